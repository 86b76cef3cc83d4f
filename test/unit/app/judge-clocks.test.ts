import { expect, test } from '@jest/globals';
import { judgeClocks } from '../../../src/app/doctor/check-clock.ts';

test.each([
  [0, 'ok'],
  [3, 'ok'],
  [-3, 'ok'],
  [5, 'warning'],
  [-5, 'warning'],
  [31, 'warning'],
  [32, 'failed'],
])('a clock that is %d s ahead of the authority is %s', (seconds, state) => {
  const here = 1_795_252_980_000;
  const other = { name: 'the authority', time: here - seconds * 1000, here };
  expect(judgeClocks([undefined, other])).toEqual([expect.objectContaining({ state })]);
});

test('a clock without another to compare with is not a fault', () => {
  const silent = { name: 'the authority', time: Number.NaN, here: 0 };
  expect(judgeClocks([silent, undefined])).toEqual([expect.objectContaining({ state: 'ok' })]);
});
