import { describe, expect, test } from '@jest/globals';
import { CountingIds } from '../support/settable-clock.ts';
import { UuidIds } from '../../src/adapters/system/system-ports.ts';

describe.each([
  ['that count', () => new CountingIds()],
  ['from UUIDs', () => new UuidIds()],
])('ids %s', (_, open) => {
  test('start with their prefix, are URL-safe and have at most 40 characters', () => {
    const ids = open();
    for (const prefix of ['acct', 'key', 'claim']) {
      const id = ids.next(prefix);
      expect(id).toMatch(new RegExp(`^${prefix}_[0-9A-Za-z]+$`));
      expect(id.length).toBeLessThanOrEqual(40);
    }
  });

  test('never come twice and sort in the order in which they were made', () => {
    const ids = open();
    const all = Array.from({ length: 5000 }, () => ids.next('evt'));
    expect(new Set(all).size).toBe(5000);
    expect(all.toSorted()).toEqual(all);
  });
});

test('two processes never make the same id from UUIDs', () => {
  const [first, second] = [new UuidIds(), new UuidIds()];
  const all = Array.from({ length: 1000 }, (_, n) => (n % 2 ? first : second).next('evt'));
  expect(new Set(all).size).toBe(1000);
});
