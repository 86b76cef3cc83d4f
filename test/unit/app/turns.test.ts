import { expect, test } from '@jest/globals';
import { CoalescedRuns } from '../../../src/kernel/signals.ts';

const heldTurns = () => {
  const ends: PromiseWithResolvers<number>[] = [];
  const turns = new CoalescedRuns(() => {
    const end = Promise.withResolvers<number>();
    ends.push(end);
    return end.promise;
  });
  const end = async (number: number) => {
    ends[number - 1]?.resolve(number);
    await new Promise(setImmediate);
  };
  return { turns, ends, end };
};

test('calls during a turn lead to one more turn, and all callers get its result', async () => {
  const { turns, ends, end } = heldTurns();
  const runs = [turns.run(), turns.run(), turns.run()];
  await end(1);
  expect(ends).toHaveLength(2);
  await end(2);
  expect(await Promise.all(runs)).toEqual([2, 2, 2]);
  expect(ends).toHaveLength(2);
});

test('a turn that reports more work is followed by another', async () => {
  let left = 3;
  const turns = new CoalescedRuns(() => {
    left -= 1;
    if (left > 0) turns.again();
    return Promise.resolve(left);
  });
  expect(await turns.run()).toBe(0);
});

// Tries every moment of the first run, because a call could be lost in any of them.
test.each([...Array(12).keys()])('a call %d microtasks after another is not lost', async (wait) => {
  const news = ['first'];
  const seen: string[] = [];
  const turns = new CoalescedRuns(async () => {
    seen.push(...news.splice(0));
    await Promise.resolve();
  });
  const first = turns.run();
  for (let task = 0; task < wait; task++) await Promise.resolve();
  news.push('second');
  await Promise.all([first, turns.run()]);
  expect(seen).toEqual(['first', 'second']);
});

test('a turn that fails ends the run for all its callers, and the next call begins a new one', async () => {
  const { turns, ends, end } = heldTurns();
  const runs = Promise.allSettled([turns.run(), turns.run()]);
  const problem = new Error('the database is away');
  ends[0]?.reject(problem);
  const failed = { status: 'rejected', reason: problem };
  expect(await runs).toEqual([failed, failed]);
  const next = turns.run();
  await end(2);
  expect(await next).toBe(2);
});

test('stopping waits for the current turn, even if it fails, and begins no other', async () => {
  const { turns, ends } = heldTurns();
  const runs = Promise.allSettled([turns.run(), turns.run()]);
  let isStopped = false;
  const stopping = turns.stop().then(() => (isStopped = true));
  expect(turns.isStopped).toBe(true);
  await new Promise(setImmediate);
  expect(isStopped).toBe(false);
  ends[0]?.reject(new Error('the database is away'));
  await stopping;
  await runs;
  expect(await turns.run()).toBeUndefined();
  expect(ends).toHaveLength(1);
});
