import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { MysqlTimeouts } from '../../../src/adapters/kysely/engine/mysql-timeouts.ts';

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

/** Tells when each was given up, by name. */
const timed = (names: Readonly<Record<string, number>>) => {
  const timeouts = new MysqlTimeouts();
  const endedAt = new Map<string, number>();
  const start = jest.now();
  const add = (name: string, ms: number) => {
    const giveUp = () => {
      endedAt.set(name, jest.now() - start);
      if (name === 'begins another') add('another', 10);
    };
    const one = { endsAt: jest.now() - start + ms, giveUp };
    timeouts.add(one);
    return one;
  };
  const all = Object.entries(names).map(([name, ms]) => add(name, ms));
  return { timeouts, endedAt, all };
};

test('each ends at its own time, whatever the order in which they began', () => {
  const { endedAt } = timed({ last: 120, first: 40, over: -5, second: 80, alsoSecond: 80 });
  jest.advanceTimersByTime(200);
  expect([...endedAt]).toEqual([
    ...[['over', 1] as const, ['first', 40] as const],
    ...[['second', 80] as const, ['alsoSecond', 80] as const, ['last', 120] as const],
  ]);
});

test('what is over in time is never given up, and holds nothing else up', () => {
  const { timeouts, endedAt, all } = timed({ answered: 20, silent: 60, endless: 3_600_000 });
  timeouts.delete(all[0]!);
  jest.advanceTimersByTime(3_599_999);
  expect([...endedAt]).toEqual([['silent', 60]]);
});

test('one that gives up may begin another', () => {
  const { endedAt } = timed({ slow: 80, 'begins another': 10 });
  jest.advanceTimersByTime(200);
  expect([...endedAt]).toEqual([
    ...[['begins another', 10] as const, ['another', 20] as const, ['slow', 80] as const],
  ]);
});
