import { AsyncLocalStorage } from 'node:async_hooks';
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { pino } from 'pino';
import {
  CronJobs,
  type Job,
  type JobEnd,
  type SleepOptions,
} from '../../../src/adapters/schedule/cron-jobs.ts';
import { Bell } from '../../../src/kernel/signals.ts';
import { Unavailable } from '../../../src/kernel/ports.ts';
import { workerJobs, type WorkerPorts } from '../../../src/app/jobs.ts';

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

const done = (): Promise<JobEnd> => Promise.resolve('done');

const schedule = (
  expression: string,
  work: Job['run'] = done,
  more: Partial<Job> & SleepOptions = {},
) => {
  const ranAt: number[] = [];
  const run: Job['run'] = (isStopping) => {
    ranAt.push(jest.now() - start);
    return work(isStopping);
  };
  const job = { name: 'test', schedule: expression, ...more, run };
  const jobs = new CronJobs([job], log, more);
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

test('stopping notifies a job that is under way, and waits for it', async () => {
  const beats: boolean[] = [];
  const work = async (isStopping: () => boolean) => {
    do {
      beats.push(isStopping());
      await Promise.resolve();
    } while (!isStopping());
    return 'done' as const;
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
  const { promise, resolve } = Promise.withResolvers<JobEnd>();
  const slow = schedule('* * * * * *', () => promise);
  await jest.advanceTimersByTimeAsync(3000);
  expect([failing.ranAt.length, slow.ranAt.length]).toEqual([3, 1]);
  resolve('done');
  await jest.advanceTimersByTimeAsync(1000);
  expect(slow.ranAt).toHaveLength(2);
});

test('the state of a job shows when it last succeeded and failed, and how often it runs', async () => {
  const failing = { isNow: false };
  const work = () => (failing.isNow ? Promise.reject(new Error('away')) : done());
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

test('a run that is left to another process does not count as a success', async () => {
  const { jobs } = schedule('*/2 * * * * *', () => Promise.resolve('elsewhere'));
  await jest.advanceTimersByTimeAsync(4000);
  expect(jobs.state()).toMatchObject([{ endedWellAt: start, failedAt: 0 }]);
  await jobs.stop();
});

test('a job reports an outage of the database once, and again at the next outage', async () => {
  const away = new Unavailable('The database', new Error('refused'));
  const outcomes = [away, away, undefined, away, away];
  const { ranAt, jobs } = schedule('* * * * * *', () => {
    const outcome = outcomes[ranAt.length - 1];
    return outcome ? Promise.reject(outcome) : done();
  });
  const before = lines.length;
  await jest.advanceTimersByTimeAsync(5000);
  expect(ranAt).toHaveLength(5);
  expect(lines.length - before).toBe(2);
  await jobs.stop();
});

test('a job runs once for all missed runs when the clock is set ahead, and then on its schedule', async () => {
  const { ranAt } = schedule('*/2 * * * * *');
  await jest.advanceTimersByTimeAsync(2000);
  jest.setSystemTime(start + 60 * day);
  await jest.advanceTimersByTimeAsync(4000);
  expect(ranAt.map((at) => at % day)).toEqual([1500, 500, 1500, 3500]);
});

test('a job continues from the new time when the clock is set back', async () => {
  const { ranAt } = schedule('*/2 * * * * *');
  await jest.advanceTimersByTimeAsync(2000);
  jest.setSystemTime(start - 60 * day);
  await jest.advanceTimersByTimeAsync(4000);
  expect(ranAt.slice(1).map((at) => at + 60 * day)).toEqual([1500, 3500]);
});

const minute = 60_000;
const at = (milliseconds: number) => new Date(start + milliseconds);

test('a job that has work before its next scheduled time runs then', async () => {
  const { ranAt, jobs } = schedule('0 */5 * * * *', () =>
    Promise.resolve({ nextAt: ranAt.length === 1 ? at(6 * minute) : undefined }),
  );
  await jest.advanceTimersByTimeAsync(11 * minute);
  expect(ranAt).toEqual([5 * minute - 500, 6 * minute, 10 * minute - 500]);
  await jobs.stop();
});

test('a job without work sleeps as long as it may, and its state shows that interval', async () => {
  const { ranAt, jobs } = schedule(
    '* * * * * *',
    () => Promise.resolve({ nextAt: ranAt.length === 1 ? at(30 * minute) : undefined }),
    { longestSleepMs: 60 * minute },
  );
  await jest.advanceTimersByTimeAsync(30 * minute - 1);
  expect(ranAt).toEqual([500]);
  expect(jobs.state()).toMatchObject([{ intervalMs: 30 * minute - 500 }]);
  await jest.advanceTimersByTimeAsync(70 * minute);
  expect(ranAt).toEqual([500, 30 * minute, 90 * minute]);
  await jobs.stop();
});

test('a job that cannot do its overdue work now tries again on its schedule', async () => {
  const { ranAt, jobs } = schedule('*/2 * * * * *', () => Promise.resolve({ nextAt: at(0) }), {
    longestSleepMs: 60 * minute,
  });
  await jest.advanceTimersByTimeAsync(6000);
  expect(ranAt).toEqual([1500, 3500, 5500]);
  await jobs.stop();
});

const idle = (): Promise<JobEnd> => Promise.resolve({ nextAt: undefined });

test('a signal runs a job at once, and that run decides when the next one is', async () => {
  const news = new Bell();
  const more = { news, longestSleepMs: 60 * minute };
  const { ranAt, jobs } = schedule(
    '0 */5 * * * *',
    () => Promise.resolve({ nextAt: ranAt.length === 2 ? at(7 * minute) : undefined }),
    more,
  );
  await jest.advanceTimersByTimeAsync(6 * minute);
  news.ring();
  expect(ranAt).toEqual([5 * minute - 500, 6 * minute]);
  await jest.advanceTimersByTimeAsync(2 * minute);
  expect(ranAt).toEqual([5 * minute - 500, 6 * minute, 7 * minute]);
  await jobs.stop();
  news.ring();
  expect(ranAt).toHaveLength(3);
});

test('a signal during a run makes the job run once more', async () => {
  const news = new Bell();
  const { promise, resolve } = Promise.withResolvers<JobEnd>();
  const { ranAt, jobs } = schedule('0 * * * * *', () => promise, { news });
  news.ring();
  news.ring();
  news.ring();
  expect(ranAt).toHaveLength(1);
  resolve({ nextAt: undefined });
  await jest.advanceTimersByTimeAsync(0);
  expect(ranAt).toEqual([0, 0]);
  await jobs.stop();
});

test('a collected signal waits for the next scheduled time, even if it comes during a run', async () => {
  const news = new Bell();
  const { ranAt, jobs } = schedule(
    '*/5 * * * * *',
    () => {
      if (ranAt.length === 1) news.ring();
      return idle();
    },
    { news, gathersNews: true, longestSleepMs: 60 * minute },
  );
  await jest.advanceTimersByTimeAsync(20_000);
  expect(ranAt).toEqual([4500, 9500]);
  for (let n = 0; n < 3; n++) news.ring();
  await jest.advanceTimersByTimeAsync(20_000);
  expect(ranAt).toEqual([4500, 9500, 24_500]);
  await jobs.stop();
});

test('a signal that another process may have missed while it did the job is handled by a retry', async () => {
  const news = new Bell();
  const ends: readonly JobEnd[] = ['elsewhere', 'elsewhere', 'done'];
  const { ranAt, jobs } = schedule(
    '0 */5 * * * *',
    () => Promise.resolve(ends[ranAt.length - 1] ?? 'done'),
    { news, isShared: true },
  );
  news.ring();
  await jest.advanceTimersByTimeAsync(minute);
  expect(ranAt).toEqual([0, 1000, 2000]);
  await jobs.stop();
});

test('a job that fails while it may sleep is retried on its schedule', async () => {
  const { ranAt, jobs } = schedule(
    '*/2 * * * * *',
    () => (ranAt.length < 3 ? Promise.reject(new Error('away')) : idle()),
    { longestSleepMs: 60 * minute },
  );
  await jest.advanceTimersByTimeAsync(30 * minute);
  expect(ranAt).toEqual([1500, 3500, 5500]);
  await jobs.stop();
});

test('frequent signals are handled together within a second', async () => {
  const news = new Bell();
  const { ranAt, jobs } = schedule('0 */5 * * * *', idle, { news });
  for (let n = 0; n < 4; n++) {
    news.ring('soon');
    await jest.advanceTimersByTimeAsync(600);
  }
  expect(ranAt).toEqual([1000, 2200]);
  await jobs.stop();
});

test('a clock that is set back is noticed even while signals keep coming', async () => {
  const news = new Bell();
  const ranAt: number[] = [];
  const other = { name: 'other', schedule: '*/2 * * * * *', run: done };
  const busy = { name: 'busy', schedule: '0 */5 * * * *', news, run: idle };
  const noted = { ...other, run: () => (ranAt.push(jest.now()), done()) };
  const jobs = new CronJobs([busy, noted], log);
  jest.setSystemTime(start - day);
  for (let n = 0; n < 10; n++) {
    news.ring();
    await jest.advanceTimersByTimeAsync(600);
  }
  expect(ranAt.length).toBeGreaterThan(1);
  await jobs.stop();
});

test('a collected signal does not make a process run earlier while another one does the job', async () => {
  const news = new Bell();
  const { ranAt, jobs } = schedule('*/15 * * * * *', () => Promise.resolve('elsewhere'), {
    news,
    gathersNews: true,
    isShared: true,
  });
  news.ring();
  await jest.advanceTimersByTimeAsync(31_000);
  expect(ranAt).toEqual([14_500, 29_500]);
  await jobs.stop();
});

test('a run does not belong to the request whose signal started it', async () => {
  const news = new Bell();
  const requests = new AsyncLocalStorage<string>();
  const seen: (string | undefined)[] = [];
  const { jobs } = schedule(
    '* * * * * *',
    () => {
      seen.push(requests.getStore());
      return idle();
    },
    { news },
  );
  requests.run('of a request', () => {
    news.ring();
  });
  expect(seen).toEqual([undefined]);
  await jobs.stop();
});

const nothing: WorkerPorts = new Proxy((() => nothing) as unknown as WorkerPorts, {
  get: (_, port) => (port === 'verifierSchedule' ? '* * * * * *' : nothing),
});
const jobs = workerJobs(nothing);

test('the jobs that only one of several workers runs are listed as such', () => {
  expect(jobs.filter(({ isShared }) => isShared).map(({ name }) => name)).toEqual([
    'issue and renew certificates',
    'plan renewals',
    'count what is stored',
    'tell of operations that end',
    'end what was deleted',
    'mail people',
  ]);
});
