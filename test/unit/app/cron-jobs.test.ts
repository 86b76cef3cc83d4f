import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { pino } from 'pino';
import { CronJobs, type Job } from '../../../src/adapters/schedule/cron-jobs.ts';
import { Unavailable } from '../../../src/kernel/unavailable.ts';

const start = Date.parse('2026-03-01T10:00:00.500Z');
const day = 24 * 60 * 60_000;
const lines: string[] = [];
const log = pino({ base: null, timestamp: false }, { write: (line: string) => lines.push(line) });

beforeEach(() => {
  jest.useFakeTimers({ now: start });
});
afterEach(() => {
  jest.useRealTimers();
});

/** A job on that schedule, and when it ran. */
const schedule = (
  expression: string,
  work: Job['run'] = () => Promise.resolve(),
  more: { readonly isAtStart?: true } = {},
) => {
  const ranAt: number[] = [];
  const run: Job['run'] = (isStopping) => {
    ranAt.push(jest.now() - start);
    return work(isStopping);
  };
  const jobs = new CronJobs([{ name: 'test', schedule: expression, run, ...more }], log);
  return { ranAt, jobs };
};

test('a job runs on its schedule until it is stopped', async () => {
  const { ranAt, jobs } = schedule('*/2 * * * * *');
  await jest.advanceTimersByTimeAsync(6000);
  expect(ranAt).toEqual([1500, 3500, 5500]);
  await jobs.stop();
  await jest.advanceTimersByTimeAsync(6000);
  expect(ranAt).toHaveLength(3);
});

test('a run that is under way learns of a stop, which waits for it', async () => {
  const beats: boolean[] = [];
  const work = async (isStopping: () => boolean) => {
    do {
      beats.push(isStopping());
      await Promise.resolve();
    } while (!isStopping());
  };
  const { jobs } = schedule('* * * * * *', work);
  jest.advanceTimersByTime(1000);
  await jobs.stop();
  expect(beats[0]).toBe(false);
});

test('a job can run at the start too', async () => {
  const { ranAt, jobs } = schedule('*/2 * * * * *', undefined, { isAtStart: true });
  await jest.advanceTimersByTimeAsync(2000);
  expect(ranAt).toEqual([0, 1500]);
  await jobs.stop();
});

test('a failed job runs again, and a running job is not started twice', async () => {
  const failing = schedule('* * * * * *', () => Promise.reject(new Error('away')));
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const slow = schedule('* * * * * *', () => promise);
  await jest.advanceTimersByTimeAsync(3000);
  expect([failing.ranAt.length, slow.ranAt.length]).toEqual([3, 1]);
  resolve(undefined);
  await jest.advanceTimersByTimeAsync(1000);
  expect(slow.ranAt).toHaveLength(2);
});

test('it is known when a job last ended well and failed, and how often it runs', async () => {
  const failing = { isNow: false };
  const work = () => (failing.isNow ? Promise.reject(new Error('away')) : Promise.resolve());
  const { jobs } = schedule('*/2 * * * * *', work);
  const known = { name: 'test', isShared: false };
  expect(jobs.state()).toEqual([{ ...known, endedWellAt: start, failedAt: 0, intervalMs: 1500 }]);
  await jest.advanceTimersByTimeAsync(3500);
  failing.isNow = true;
  await jest.advanceTimersByTimeAsync(4000);
  const [endedWellAt, failedAt] = [start + 3500, start + 7500];
  expect(jobs.state()).toEqual([{ ...known, endedWellAt, failedAt, intervalMs: 2000 }]);
  await jobs.stop();
});

test('a run that is left to another process is no success', async () => {
  const { jobs } = schedule('*/2 * * * * *', () => Promise.resolve(false));
  await jest.advanceTimersByTimeAsync(4000);
  expect(jobs.state()).toMatchObject([{ endedWellAt: start, failedAt: 0 }]);
  await jobs.stop();
});

test('a job reports an outage of the database once, and again at the next outage', async () => {
  const away = new Unavailable('The database', new Error('refused'));
  const outcomes = [away, away, undefined, away, away];
  const { ranAt, jobs } = schedule('* * * * * *', () => {
    const outcome = outcomes[ranAt.length - 1];
    return outcome ? Promise.reject(outcome) : Promise.resolve();
  });
  const before = lines.length;
  await jest.advanceTimersByTimeAsync(5000);
  expect(ranAt).toHaveLength(5);
  expect(lines.length - before).toBe(2);
  await jobs.stop();
});

test('stopping waits for a run under way', async () => {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const { jobs } = schedule('* * * * * *', () => promise);
  await jest.advanceTimersByTimeAsync(1000);
  let isStopped = false;
  const stopping = jobs.stop().then(() => (isStopped = true));
  await jest.advanceTimersByTimeAsync(1000);
  expect(isStopped).toBe(false);
  resolve(undefined);
  await stopping;
});

test('when the clock is set ahead a job runs once for all missed runs, and then on its schedule', async () => {
  const { ranAt } = schedule('*/2 * * * * *');
  await jest.advanceTimersByTimeAsync(2000);
  jest.setSystemTime(start + 60 * day);
  await jest.advanceTimersByTimeAsync(4000);
  expect(ranAt.map((at) => at % day)).toEqual([1500, 500, 1500, 3500]);
});

test('when the clock is set back a job continues from the new time', async () => {
  const { ranAt } = schedule('*/2 * * * * *');
  await jest.advanceTimersByTimeAsync(2000);
  jest.setSystemTime(start - 60 * day);
  await jest.advanceTimersByTimeAsync(4000);
  expect(ranAt.slice(1).map((at) => at + 60 * day)).toEqual([1500, 3500]);
});
