import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  longestWaitForDnsMs,
  nextCheck,
} from '../../../src/domains/domain/attachment/custom-domain.ts';

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
const since = new Date('2026-03-01T10:00:00Z');
const after = (milliseconds: number) => new Date(since.getTime() + milliseconds);

/** The times of the checks, in milliseconds after `since`, if each runs `late` after it is due. */
const checksWith = (jitter: number, late = 0): readonly number[] => {
  const all: number[] = [];
  for (let at = since; ;) {
    const next = nextCheck(since, at, jitter);
    if (next.kind === 'expired') return all;
    at = new Date(next.at.getTime() + late);
    all.push(at.getTime() - since.getTime());
  }
};

const first = [1, 2, 5, 10, 20, 30].map((minutes) => minutes * minute);
const hourly = Array.from({ length: 48 }, (_, n) => (n + 1) * hour);
const daily = Array.from({ length: 28 }, (_, n) => (n + 3) * day);

test('checks come after 1, 2, 5, 10, 20 and 30 minutes, then hourly until 48 hours, then daily until day 30', () => {
  expect(checksWith(0)).toEqual([...first, ...hourly, ...daily]);
});

test('a check that is some seconds late does not delay the others', () => {
  const late = 5000;
  const planned = [...first, ...hourly, ...daily].map((at) => at + late);
  expect(checksWith(0, late)).toEqual(planned);
});

test.each([-1, -0.3, 0.3, 1])(
  'with a jitter of %d there are as many checks, and the last one ends the schedule',
  (jitter) => {
    const checks = checksWith(jitter);
    expect(Math.abs(checks.length - checksWith(0).length)).toBeLessThanOrEqual(2);
    expect(checks.at(-1)).toBeGreaterThanOrEqual(longestWaitForDnsMs);
    expect(checks.at(-1)).toBeLessThan(longestWaitForDnsMs + 0.1 * day);
  },
);

test('jitter moves a check by a tenth of its wait at most', () => {
  const at = (jitter: number) => {
    const next = nextCheck(since, after(3 * hour), jitter);
    return next.kind === 'check' && next.at.getTime() - after(3 * hour).getTime();
  };
  const tenth = 6 * minute;
  expect([-1, 0, 1].map(at)).toEqual([hour - tenth, hour, hour + tenth]);
  expect([-50, 50, NaN].map(at)).toEqual([hour - tenth, hour + tenth, hour]);
});

test('a domain that was not checked for long is checked within its usual time', () => {
  expect(nextCheck(since, after(2 * day - hour / 3), 0)).toEqual({
    kind: 'check',
    at: after(3 * day),
  });
  expect(nextCheck(since, after(longestWaitForDnsMs), 0)).toEqual({ kind: 'expired' });
  expect(nextCheck(since, after(400 * day), 0)).toEqual({ kind: 'expired' });
});

describe('a clock that jumps', () => {
  test('back restarts the schedule and never waits for the old time', () => {
    const now = after(-5 * day);
    expect(nextCheck(since, now, 0)).toEqual({
      kind: 'check',
      at: new Date(now.getTime() + minute),
    });
  });

  test('to any time leads to a next check within little more than two days', () => {
    const moment = fc.integer({ min: -100 * day, max: 100 * day });
    fc.assert(
      fc.property(moment, fc.double(), (jump, jitter) => {
        const now = after(jump);
        const next = nextCheck(since, now, jitter);
        if (next.kind === 'expired') {
          expect(jump).toBeGreaterThanOrEqual(longestWaitForDnsMs);
          return;
        }
        const wait = next.at.getTime() - now.getTime();
        expect(wait).toBeGreaterThan(0);
        expect(wait).toBeLessThanOrEqual(1.65 * day);
      }),
    );
  });
});
