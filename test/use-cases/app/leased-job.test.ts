import { expect, test } from '@jest/globals';
import { pino } from 'pino';
import { SettableClock } from '../../support/settable-clock.ts';
import { LeasedJob } from '../../../src/adapters/schedule/leased-job.ts';
import { now } from '../../support/accounts.ts';
import { storesOfTests } from '../../support/stores-of-tests.ts';
import { until } from '../../support/until.ts';

const open = storesOfTests();

/** Processes that share the leases of jobs. */
const fleet = async () => {
  const { jobLeases: leases } = await open();
  const clock = new SettableClock(now);
  const log = pino({ level: 'silent' });
  return {
    clock,
    join: (holder: string, work: (isStopping: () => boolean) => Promise<unknown>) =>
      new LeasedJob('a job', work, { leases, clock, log, holder, againAfterMs: 1 }),
  };
};

/** Work that ends when it is told to. */
const heldWork = () => {
  const ends: (() => void)[] = [];
  return {
    ends,
    work: () => new Promise<void>((resolve) => void ends.push(resolve)),
  };
};

test('only one process runs the job at a time, and another can take it afterwards', async () => {
  const { join } = await fleet();
  const { ends, work } = heldWork();
  const [one, other] = [join('one', work), join('other', work)];
  const first = one.run();
  await until('it has begun', () => ends.length === 1);
  expect(await other.run()).toBe(false);
  ends[0]!();
  expect(await first).toBe(true);
  const second = other.run();
  await until('it has begun there', () => ends.length === 2);
  ends[1]!();
  expect(await second).toBe(true);
});

test('requests during a run make the job run once more, never twice at a time', async () => {
  const { ends, work } = heldWork();
  const job = (await fleet()).join('one', work);
  const runs = [job.run(), job.run(), job.run()];
  await until('it has begun', () => ends.length === 1);
  ends[0]!();
  await until('it runs once more', () => ends.length === 2);
  ends[1]!();
  expect(await Promise.all(runs)).toEqual([true, true, true]);
  expect(ends).toHaveLength(2);
});

test('requests are not lost while another process runs the job', async () => {
  const { join } = await fleet();
  const { ends, work } = heldWork();
  const busy = join('one', work).run();
  await until('it has begun', () => ends.length === 1);
  let done = 0;
  const woken = join('other', () => Promise.resolve((done += 1)));
  woken.wake();
  ends[0]!();
  await busy;
  await until('it is done there', () => done === 1);
  await woken.stop();
});

test('another process takes the job of a dead one when its lease ends', async () => {
  const { join, clock } = await fleet();
  void join('dead', () => new Promise(() => undefined)).run();
  const next = join('next', () => Promise.resolve());
  expect(await next.run()).toBe(false);
  clock.advance(30_000);
  expect(await next.run()).toBe(true);
});

test('a job that fails releases its lease and reports the error to its caller', async () => {
  const { join } = await fleet();
  const failing = join('one', () => Promise.reject(new Error('the authority is on fire')));
  await expect(failing.run()).rejects.toThrow('on fire');
  expect(await join('other', () => Promise.resolve()).run()).toBe(true);
});

test('stopping signals the running work, waits for it and starts nothing more', async () => {
  const { join } = await fleet();
  const { ends, work } = heldWork();
  let isStopping: () => boolean = () => false;
  const job = join('one', (asked) => {
    isStopping = asked;
    return work();
  });
  const running = job.run();
  await until('it has begun', () => ends.length === 1);
  void job.run();
  expect(isStopping()).toBe(false);
  const stopping = job.stop();
  expect(isStopping()).toBe(true);
  ends[0]!();
  await Promise.all([running, stopping]);
  await job.run();
  expect(ends).toHaveLength(1);
});
