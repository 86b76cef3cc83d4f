import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { ThreadPool, type PoolSettings } from '../../src/adapters/threads/thread-pool.ts';
import { holdTimeouts } from '../support/held-timeouts.ts';
import type { StubbornTask } from '../support/stubborn-thread.ts';
import { until } from '../support/until.ts';

type Pool = ThreadPool<StubbornTask, unknown, string>;

const opened: Pool[] = [];
const poolOf = (settings: Partial<PoolSettings> = {}): Pool => {
  const pool: Pool = new ThreadPool({
    entry: new URL('../support/stubborn-thread.ts', import.meta.url),
    setup: 'turn',
    threads: 1,
    mostWaiting: 10,
    deadlineMs: 60_000,
    memoryMiB: 64,
    idleMs: 60_000,
    ...settings,
  });
  opened.push(pool);
  return pool;
};
afterEach(async () => {
  jest.useRealTimers();
  for (const pool of opened.splice(0)) await pool.close();
});

test('one thread does task after task, with its initial data', async () => {
  const pool = poolOf();
  expect(await pool.run('count')).toBe('turn 1');
  expect(await pool.run('count')).toBe('turn 2');
});

test('concurrent tasks are all done, by no more threads than the limit', async () => {
  const pool = poolOf({ threads: 2 });
  const counts = await Promise.all(Array.from({ length: 8 }, () => pool.run('count')));
  expect(counts).toHaveLength(8);
  expect(new Set(counts).size).toBeGreaterThanOrEqual(4);
});

test('the messages of a task arrive in order, before its result', async () => {
  const told: string[] = [];
  const result = poolOf().run('tell', (news) => told.push(news));
  expect(await result.then(() => [...told])).toEqual(['one', 'two', 'three']);
});

test('a thread cannot read the environment, which contains secrets', async () => {
  expect(await poolOf().run('read secrets')).toBe('none');
});

describe('an error from a task is passed on', () => {
  test.each([
    ['refuse', { name: 'DomainError', code: 'archive_link', message: 'It is a link.' }],
    ['trouble', { name: 'Unavailable', message: 'The storage cannot be reached' }],
    ['fail', { message: 'nobody foresaw this' }],
  ] as const)('unchanged (%s), and the thread continues', async (task, error) => {
    const pool = poolOf();
    await pool.run('count');
    await expect(pool.run(task)).rejects.toMatchObject(error);
    expect(await pool.run('count')).toBe('turn 2');
  });
});

describe('a task that exceeds its limits', () => {
  const deadlineMs = 300;
  const overrun = async (running: Promise<unknown>): Promise<unknown> => {
    let end: unknown;
    void running.catch((error: unknown) => (end = { error }));
    return until('it is ended', async () => {
      if (end === undefined) await jest.advanceTimersByTimeAsync(deadlineMs);
      return end;
    });
  };

  test.each(['loop', 'wait'] as const)(
    'is ended with its thread (%s: too much time), and the next one gets a new thread',
    async (task) => {
      holdTimeouts();
      const pool = poolOf({ deadlineMs });
      expect(await pool.run('count')).toBe('turn 1');
      const error = { name: 'Overrun', of: 'time' };
      expect(await overrun(pool.run(task))).toMatchObject({ error });
      expect(await pool.run('count')).toBe('turn 1');
    },
  );

  test.each(['hoard', 'hoard buffers'] as const)(
    'is ended with its thread (%s: too much memory), and the next one gets a new thread',
    async (task) => {
      const pool = poolOf();
      expect(await pool.run('count')).toBe('turn 1');
      await expect(pool.run(task)).rejects.toMatchObject({ name: 'Overrun', of: 'memory' });
      expect(await pool.run('count')).toBe('turn 1');
    },
  );

  test('blocks neither the process nor other tasks', async () => {
    const pool = poolOf({ threads: 2 });
    let isOver = false;
    const looping = pool.run('loop').catch(() => (isOver = true));
    for (let turn = 0; turn < 20; turn++) await pool.run('count');
    expect(isOver).toBe(false);
    await pool.close();
    await looping;
  });

  test('starts its deadline only once it has a thread', async () => {
    holdTimeouts();
    const pool = poolOf({ deadlineMs });
    const looping = [pool.run('loop'), pool.run('loop')].map(overrun);
    const waiting = pool.run('count');
    await Promise.all(looping);
    expect(await waiting).toBe('turn 1');
  });
});

test.each(['crash', 'exit'] as const)(
  'a thread that ends on its own (%s) fails only its task',
  async (task) => {
    const pool = poolOf();
    await expect(pool.run(task)).rejects.toHaveProperty('name', 'Unavailable');
    expect(await pool.run('count')).toBe('turn 1');
  },
);

test('a thread that cannot start fails its task', async () => {
  const pool = poolOf({ entry: new URL('./there-is-no-such-thread.ts', import.meta.url) });
  await expect(pool.run('count')).rejects.toHaveProperty('name', 'Unavailable');
});

test('tasks beyond the queue limit are refused at once', async () => {
  const pool = poolOf({ mostWaiting: 1, deadlineMs: 500 });
  const ended = [pool.run('loop'), pool.run('loop')].map((one) => one.catch(() => 'ended'));
  await expect(pool.run('count')).rejects.toThrow('has too much to do');
  await Promise.all(ended);
});

test('an idle thread is stopped, and started again when it is needed', async () => {
  const pool = poolOf({ idleMs: 50 });
  expect(await pool.run('count')).toBe('turn 1');
  await until('it is gone', () => pool.size === 0);
  expect(await pool.run('count')).toBe('turn 1');
});

test('closing ends running and waiting tasks', async () => {
  const pool = poolOf();
  const tasks = [pool.run('loop'), pool.run('count')].map((one) =>
    one.catch((error: unknown) => (error as Error).name),
  );
  await pool.close();
  expect(await Promise.all(tasks)).toEqual(['Unavailable', 'Unavailable']);
  await expect(pool.run('count')).rejects.toHaveProperty('name', 'Unavailable');
});
