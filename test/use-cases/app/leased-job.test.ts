import { afterEach, expect, jest, test } from '@jest/globals';
import { pino } from 'pino';
import type { JobEnd } from '../../../src/adapters/schedule/cron-jobs.ts';
import type { JobLeases } from '../../../src/kernel/queue.ts';
import { SettableClock } from '../../support/settable-clock.ts';
import { leasedJob } from '../../../src/adapters/schedule/leased-job.ts';
import { later, now } from '../../support/accounts.ts';
import { storesOfTests } from '../../support/stores-of-tests.ts';
import { until } from '../../support/until.ts';

const open = storesOfTests();
const goOn = () => false;
afterEach(() => {
  jest.useRealTimers();
});

const fleet = async () => {
  const { jobLeases: leases } = await open();
  const clock = new SettableClock(now);
  const log = pino({ level: 'silent' });
  return {
    clock,
    join: (holder: string, work: (isStopping: () => boolean) => Promise<JobEnd>) =>
      leasedJob({ name: 'a job', work }, { leases, clock, log, holder }),
  };
};

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
  const first = one(goOn);
  await until('it has begun', () => ends.length === 1);
  expect(await other(goOn)).toBe('elsewhere');
  ends[0]!();
  expect(await first).toBe('done');
  const second = other(goOn);
  await until('it has begun there', () => ends.length === 2);
  ends[1]!();
  expect(await second).toBe('done');
});

test('another process takes the job of a dead one when its lease ends', async () => {
  const { join, clock } = await fleet();
  void join('dead', () => new Promise(() => undefined))(goOn);
  const next = join('next', () => Promise.resolve('done' as const));
  expect(await next(goOn)).toBe('elsewhere');
  clock.advance(30_000);
  expect(await next(goOn)).toBe('done');
});

test('the lease is prolonged for as long as the work takes, and no longer', async () => {
  jest.useFakeTimers();
  const held: Date[] = [];
  const leases: JobLeases = {
    hold: (_job, _holder, _now, until) => {
      held.push(until);
      return Promise.resolve(true);
    },
    release: () => Promise.resolve(),
  };
  const { ends, work } = heldWork();
  const ports = { leases, clock: new SettableClock(now), log: pino({ level: 'silent' }) };
  const running = leasedJob({ name: 'a job', work }, { ...ports, holder: 'one' })(goOn);
  await jest.advanceTimersByTimeAsync(20_000);
  expect(held).toEqual(Array(3).fill(later(30_000)));
  ends[0]!();
  await running;
  await jest.advanceTimersByTimeAsync(60_000);
  expect(held).toHaveLength(3);
});

test('a job that fails releases its lease and reports the error to its caller', async () => {
  const { join } = await fleet();
  const failing = join('one', () => Promise.reject(new Error('the authority is on fire')));
  await expect(failing(goOn)).rejects.toThrow('on fire');
  expect(await join('other', () => Promise.resolve('done' as const))(goOn)).toBe('done');
});

test('when the process stops, the work of a job is notified', async () => {
  const { join } = await fleet();
  const asked: boolean[] = [];
  const job = join('one', (isStopping) => {
    asked.push(isStopping());
    return Promise.resolve('done');
  });
  await job(() => true);
  await job(goOn);
  expect(asked).toEqual([true, false]);
});

test('a job that knows its next work takes no lease before that, and then reports the work after it', async () => {
  const { jobLeases: leases } = await open();
  const clock = new SettableClock(now);
  const log = pino({ level: 'silent' });
  const times = [later(60_000), later(60_000), later(120_000)];
  let runs = 0;
  const work = (): Promise<JobEnd> => {
    runs += 1;
    return Promise.resolve('done');
  };
  const dueAt = () => Promise.resolve(times.shift());
  const job = leasedJob({ name: 'a job', work, dueAt }, { leases, clock, log, holder: 'one' });
  await leases.hold('a job', 'other', now, later(30_000));
  expect(await job(goOn)).toEqual({ nextAt: later(60_000) });
  clock.advance(60_000);
  expect(await job(goOn)).toEqual({ nextAt: later(120_000) });
  expect(runs).toBe(1);
});
