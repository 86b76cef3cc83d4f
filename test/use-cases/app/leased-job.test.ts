import { expect, test } from '@jest/globals';
import { pino } from 'pino';
import type { JobEnd } from '../../../src/adapters/schedule/cron-jobs.ts';
import { SettableClock } from '../../support/settable-clock.ts';
import { LeasedJob } from '../../../src/adapters/schedule/leased-job.ts';
import { later, now } from '../../support/accounts.ts';
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
    join: (holder: string, work: (isStopping: () => boolean) => Promise<JobEnd>) =>
      new LeasedJob('a job', work, { leases, clock, log, holder }),
  };
};

/** Work that ends when it is told to. */
const heldWork = () => {
  const ends: (() => void)[] = [];
  return {
    ends,
    work: () =>
      new Promise<JobEnd>((resolve) => {
        ends.push(() => {
          resolve('done');
        });
      }),
  };
};

test('only one process runs the job at a time, and another can take it afterwards', async () => {
  const { join } = await fleet();
  const { ends, work } = heldWork();
  const [one, other] = [join('one', work), join('other', work)];
  const first = one.run();
  await until('it has begun', () => ends.length === 1);
  expect(await other.run()).toBe('elsewhere');
  ends[0]!();
  expect(await first).toBe('done');
  const second = other.run();
  await until('it has begun there', () => ends.length === 2);
  ends[1]!();
  expect(await second).toBe('done');
});

test('requests during a run make the job run once more, never twice at a time', async () => {
  const { ends, work } = heldWork();
  const job = (await fleet()).join('one', work);
  const runs = [job.run(), job.run(), job.run()];
  await until('it has begun', () => ends.length === 1);
  ends[0]!();
  await until('it runs once more', () => ends.length === 2);
  ends[1]!();
  expect(await Promise.all(runs)).toEqual(['done', 'done', 'done']);
  expect(ends).toHaveLength(2);
});

test('another process takes the job of a dead one when its lease ends', async () => {
  const { join, clock } = await fleet();
  void join('dead', () => new Promise(() => undefined)).run();
  const next = join('next', () => Promise.resolve('done' as const));
  expect(await next.run()).toBe('elsewhere');
  clock.advance(30_000);
  expect(await next.run()).toBe('done');
});

test('a job that fails releases its lease and reports the error to its caller', async () => {
  const { join } = await fleet();
  const failing = join('one', () => Promise.reject(new Error('the authority is on fire')));
  await expect(failing.run()).rejects.toThrow('on fire');
  expect(await join('other', () => Promise.resolve('done' as const)).run()).toBe('done');
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

test('a job that knows when it has work takes no lease before, and then says when it has more', async () => {
  const { jobLeases: leases } = await open();
  const clock = new SettableClock(now);
  const log = pino({ level: 'silent' });
  const times = [later(60_000), later(60_000), later(120_000)];
  let runs = 0;
  const work = (): Promise<JobEnd> => {
    runs += 1;
    return Promise.resolve('done');
  };
  const ports = { leases, clock, log, holder: 'one', dueAt: () => Promise.resolve(times.shift()) };
  const job = new LeasedJob('a job', work, ports);
  await leases.hold('a job', 'other', now, later(30_000));
  expect(await job.run()).toEqual({ nextAt: later(60_000) });
  clock.advance(60_000);
  expect(await job.run()).toEqual({ nextAt: later(120_000) });
  expect(runs).toBe(1);
});
