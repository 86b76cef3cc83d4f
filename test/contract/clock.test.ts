import { describe, expect, test } from '@jest/globals';
import { SettableClock } from '../support/settable-clock.ts';
import { SystemClock } from '../../src/adapters/system/system-ports.ts';

const start = new Date('2026-03-01T10:00:00.000Z');

describe.each([
  ['that can be set', () => new SettableClock(start)],
  ['of the system', () => new SystemClock()],
])('a clock %s', (_, open) => {
  test('gives each caller a date of its own', () => {
    const clock = open();
    clock.now().setTime(0);
    expect(clock.now().getTime()).not.toBe(0);
  });
});

test('a clock that can be set stands still until it is set, forward or back', () => {
  const clock = new SettableClock(start);
  expect(clock.now()).toEqual(start);
  clock.advance(-1500);
  expect(clock.now()).toEqual(new Date('2026-03-01T09:59:58.500Z'));
  clock.set(start);
  expect(clock.now()).toEqual(start);
});
