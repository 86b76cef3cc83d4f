import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  longestTryingMs,
  nextAttempt,
} from '../../../src/domains/domain/certificates/certificate-status.ts';

const minute = 60_000;
const day = 24 * 60 * minute;
const start = new Date('2026-03-01T10:00:00Z');
const after = (milliseconds: number, from = start) => new Date(from.getTime() + milliseconds);

const attempts = (failed: number) => ({ failed, firstAt: start, lastAt: start });

test('a failed attempt is retried after 1, 10 and 100 minutes, then daily for 30 days', () => {
  const waits: number[] = [];
  for (let now = start, failed = 1; ; failed++) {
    const next = nextAttempt(attempts(failed), { reason: 'challenge', retryAt: undefined }, now);
    if (next.kind !== 'at') {
      expect(next.kind).toBe('waits_for_owner');
      break;
    }
    waits.push((next.at.getTime() - now.getTime()) / minute);
    now = next.at;
  }
  expect(waits.slice(0, 5)).toEqual([1, 10, 100, 1440, 1440]);
  expect(waits.reduce((sum, wait) => sum + wait, 0)).toBeGreaterThan(29 * 1440);
  expect(waits.reduce((sum, wait) => sum + wait, 0)).toBeLessThanOrEqual(longestTryingMs / minute);
});

test.each(['unavailable', 'dns', 'challenge', 'rate_limited', 'order_gone'] as const)(
  'nothing is requested after %s before the authority’s Retry-After',
  (reason) => {
    const retryAt = after(3 * 60 * minute);
    const next = nextAttempt(attempts(1), { reason, retryAt }, start);
    expect(next).toEqual({ kind: 'at', at: retryAt });
    const soon = nextAttempt(attempts(2), { reason, retryAt: after(1000) }, start);
    const wait = reason === 'order_gone' ? minute : 10 * minute;
    expect(soon).toEqual({ kind: 'at', at: after(wait) });
  },
);

test('a lost order is replaced at once, but at most once a minute', () => {
  const gone = { reason: 'order_gone', retryAt: undefined } as const;
  const next = [1, 2, 3, 50].map((failed) => nextAttempt(attempts(failed), gone, start));
  const times = [start, after(minute), after(minute), after(minute)];
  expect(next).toEqual(times.map((at) => ({ kind: 'at', at })));
});

test('after a CAA failure an attempt waits for the DNS, and after a rejected name for its owner', () => {
  const reasons = ['caa', 'rejected_name'] as const;
  const kinds = reasons.map((reason) =>
    nextAttempt(attempts(1), { reason, retryAt: undefined }, start),
  );
  expect(kinds.map(({ kind }) => kind)).toEqual(['waits_for_dns', 'waits_for_owner']);
  const late = nextAttempt(attempts(9), { reason: 'caa', retryAt: undefined }, after(31 * day));
  expect(late.kind).toBe('waits_for_owner');
});

test('no attempt is ever planned before the authority’s Retry-After, or in the past', () => {
  const reason = fc.constantFrom('unavailable', 'dns', 'challenge', 'rate_limited', 'order_gone');
  const moment = fc.integer({ min: -60 * day, max: 60 * day });
  fc.assert(
    fc.property(
      reason,
      moment,
      moment,
      fc.integer({ min: 1, max: 50 }),
      (why, jump, retry, failed) => {
        const [now, retryAt] = [after(jump), after(retry)];
        const next = nextAttempt(attempts(failed), { reason: why, retryAt }, now);
        if (next.kind !== 'at') return;
        expect(next.at.getTime()).toBeGreaterThanOrEqual(
          Math.max(now.getTime(), retryAt.getTime()),
        );
      },
    ),
  );
});
