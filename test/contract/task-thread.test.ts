import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { runInThread, type ThreadLimits } from '../../src/adapters/threads/task-thread.ts';
import { holdTimeouts } from '../support/held-timeouts.ts';
import type { StubbornTask } from '../support/stubborn-thread.ts';
import { until } from '../support/until.ts';

interface Options extends Partial<ThreadLimits> {
  readonly entry?: URL;
  readonly onNews?: (news: string) => void;
  readonly signal?: AbortSignal;
}

const run = (task: StubbornTask, options: Options = {}): Promise<unknown> =>
  runInThread<StubbornTask, unknown, string>({
    entry: new URL('../support/stubborn-thread.ts', import.meta.url),
    deadlineMs: 60_000,
    memoryMiB: 64,
    onNews: () => undefined,
    signal: new AbortController().signal,
    ...options,
    task,
  });
afterEach(() => {
  jest.useRealTimers();
});

test('concurrent tasks are all done', async () => {
  const all = Array.from({ length: 4 }, () => run('answer'));
  expect(await Promise.all(all)).toEqual(['done', 'done', 'done', 'done']);
});

test('the messages of a task arrive in order, before its result', async () => {
  const told: string[] = [];
  const result = run('tell', { onNews: (news) => told.push(news) });
  expect(await result.then(() => [...told])).toEqual(['one', 'two', 'three']);
});

test('a thread cannot read the environment, which contains secrets', async () => {
  expect(await run('read secrets')).toBe('none');
});

test.each([
  ['refuse', { name: 'DomainError', code: 'archive_link', message: 'It is a link.' }],
  ['trouble', { name: 'Unavailable', message: 'The storage cannot be reached' }],
  ['fail', { message: 'nobody foresaw this' }],
] as const)('an error from a task is passed on unchanged (%s)', async (task, error) => {
  await expect(run(task)).rejects.toMatchObject(error);
});

describe('a task that exceeds its limits', () => {
  const deadlineMs = 300;

  test.each(['loop', 'wait'] as const)('is ended (%s: too much time)', async (task) => {
    holdTimeouts();
    let end: unknown;
    void run(task, { deadlineMs }).catch((error: unknown) => (end = error));
    await until('it is ended', async () => {
      if (end === undefined) await jest.advanceTimersByTimeAsync(deadlineMs);
      return end;
    });
    expect(end).toMatchObject({ name: 'Overrun', of: 'time' });
  });

  test.each(['hoard', 'hoard buffers'] as const)('is ended (%s: too much memory)', async (task) => {
    await expect(run(task)).rejects.toMatchObject({ name: 'Overrun', of: 'memory' });
  });

  test('blocks neither the process nor other tasks', async () => {
    const closing = new AbortController();
    let isOver = false;
    const looping = run('loop', { signal: closing.signal }).catch(() => (isOver = true));
    for (let turn = 0; turn < 3; turn++) await run('answer');
    expect(isOver).toBe(false);
    closing.abort(new Error('enough'));
    await looping;
  });
});

test.each(['crash', 'exit'] as const)(
  'a thread that ends on its own (%s) fails its task',
  async (task) => {
    await expect(run(task)).rejects.toHaveProperty('name', 'Unavailable');
  },
);

test('a thread that cannot start fails its task', async () => {
  const entry = new URL('./there-is-no-such-thread.ts', import.meta.url);
  await expect(run('answer', { entry })).rejects.toHaveProperty('name', 'Unavailable');
});

test('aborting ends running tasks with its reason, and refuses new ones', async () => {
  const closing = new AbortController();
  const running = expect(run('loop', { signal: closing.signal })).rejects.toThrow('enough');
  closing.abort(new Error('enough'));
  await running;
  await expect(run('answer', { signal: closing.signal })).rejects.toThrow('enough');
});
