import { expect, jest, test } from '@jest/globals';
import { TtlCache } from '../../../src/adapters/kysely/access/kysely-api-keys.ts';

/** Reads 1, 2, 3 …, so that each value shows which read it came from. */
const counter = () => {
  let count = 0;
  return () => Promise.resolve({ count: ++count });
};

test('a row is read once by its key, until its time is over', async () => {
  const [cache, read] = [new TtlCache<{ count: number }>(), counter()];
  const elapsed = jest.spyOn(performance, 'now').mockReturnValue(5000);
  const counts = [];
  for (const key of ['a', 'b', 'a']) counts.push((await cache.get(key, read))?.count);
  elapsed.mockReturnValue(5900);
  counts.push((await cache.get('a', read))?.count);
  elapsed.mockReturnValue(5901);
  counts.push((await cache.get('a', read))?.count);
  elapsed.mockRestore();
  expect(counts).toEqual([1, 2, 1, 1, 3]);
});

test('a missing row and a failed read are not cached', async () => {
  const cache = new TtlCache<{ count: number }>();
  expect(await cache.get('a', () => Promise.resolve(undefined))).toBeUndefined();
  const failure = new Error('the database is away');
  await expect(cache.get('a', () => Promise.reject(failure))).rejects.toBe(failure);
  expect(await cache.get('a', counter())).toEqual({ count: 1 });
});

test('a row that changes while it is read is not cached', async () => {
  const [cache, read] = [new TtlCache<{ count: number }>(), counter()];
  const stale = cache.get('a', read);
  cache.clear();
  expect([await stale, await cache.get('a', read)]).toEqual([{ count: 1 }, { count: 2 }]);
});
