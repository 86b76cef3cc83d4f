import { expect, test } from '@jest/globals';
import { ShortMemory } from '../../../src/adapters/kysely/short-memory.ts';

/** Reads 1, 2, 3 …, so that each value shows which read it came from. */
const counter = () => {
  let count = 0;
  return () => Promise.resolve(++count);
};

test('a value is read once and remembered for less than a second', async () => {
  const [memory, read] = [new ShortMemory<number>(), counter()];
  const values = [];
  for (const at of [5000, 5001, 5899, 5900, 6000]) values.push(await memory.get('a', read, at));
  expect(values).toEqual([1, 1, 1, 2, 2]);
});

test('values are remembered by their key', async () => {
  const [memory, read] = [new ShortMemory<number>(), counter()];
  const values = [];
  for (const key of ['a', 'b', 'a']) values.push(await memory.get(key, read, 0));
  expect(values).toEqual([1, 2, 1]);
});

test('a missing value is not remembered', async () => {
  const memory = new ShortMemory<number>();
  expect(await memory.get('a', () => Promise.resolve(undefined), 0)).toBeUndefined();
  expect(await memory.get('a', counter(), 0)).toBe(1);
});

test('a forgotten value is read again', async () => {
  const [memory, read] = [new ShortMemory<number>(), counter()];
  await memory.get('a', read, 0);
  memory.forget();
  expect(await memory.get('a', read, 0)).toBe(2);
});

test('a value that was being read during a change is not remembered', async () => {
  const [memory, read] = [new ShortMemory<number>(), counter()];
  const stale = memory.get('a', read, 0);
  memory.forget();
  expect(await stale).toBe(1);
  expect(await memory.get('a', read, 0)).toBe(2);
});

test('the number of remembered values is limited', async () => {
  const [memory, read] = [new ShortMemory<number>(900, 2), counter()];
  for (const key of ['a', 'b', 'c']) await memory.get(key, read, 0);
  const values = [];
  for (const key of ['c', 'a']) values.push(await memory.get(key, read, 0));
  expect(values).toEqual([3, 4]);
});

test('a failed read is reported and not remembered', async () => {
  const memory = new ShortMemory<number>();
  const failure = new Error('the database is away');
  await expect(memory.get('a', () => Promise.reject(failure), 0)).rejects.toBe(failure);
  expect(await memory.get('a', counter(), 0)).toBe(1);
});
