import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { judge, secondsUntil, windowIndex } from '../../../src/access/domain/quota.ts';
import { MemoryQuotaCounters } from '../../../src/adapters/memory/memory-quota-counters.ts';

const [second, minute, hour, day] = [1000, 60_000, 3_600_000, 86_400_000];
const onward = fc.constantFrom(0, 1, second, 20 * second, minute - 1, minute, 61 * minute);
const jump = fc.constantFrom(-second, -minute, hour, -hour, day, 60 * day, -60 * day);
const step = fc.oneof({ weight: 5, arbitrary: onward }, { weight: 1, arbitrary: jump });
const scenario = fc.record({
  limits: fc.record({
    perMinute: fc.integer({ min: 1, max: 4 }),
    perDay: fc.integer({ min: 1, max: 9 }),
  }),
  start: fc.constantFrom(Date.UTC(2026, 1, 28, 23, 59, 59, 999), Date.UTC(2026, 2, 1, 12, 0, 30)),
  steps: fc.array(fc.record({ step, takes: fc.integer({ min: 0, max: 5 }) }), { maxLength: 30 }),
});

/** Counts the requests that passed in a window; a window left for two others may start over. */
const witness = (limit: number) => {
  let [last, before] = [
    { index: NaN, passed: 0 },
    { index: NaN, passed: 0 },
  ];
  return (index: number, allowed: boolean): void => {
    if (index === before.index) [last, before] = [before, last];
    else if (index !== last.index) [last, before] = [{ index, passed: 0 }, last];
    if (allowed) last.passed += 1;
    expect(last.passed).toBeLessThanOrEqual(limit);
  };
};

test('no window exceeds its limit, however the clock jumps', async () => {
  await fc.assert(
    fc.asyncProperty(scenario, async ({ limits, start, steps }) => {
      const counters = new MemoryQuotaCounters();
      const inMinute = witness(limits.perMinute);
      const inDay = witness(limits.perDay);
      let now = new Date(start);
      let refusedAt: Date | undefined;
      for (const { step, takes } of steps) {
        now = new Date(now.getTime() + step);
        for (let n = 0; n < takes; n++) {
          const seen = await counters.peek('account:a', now);
          const { allowed, counts } = await counters.take({ subject: 'account:a', limits, now });
          const more = allowed ? 1 : 0;
          expect(counts).toEqual({ minute: seen.minute + more, day: seen.day + more });
          inMinute(windowIndex('minute', now), allowed);
          inDay(windowIndex('day', now), allowed);
          // Setting the clock back never helps a refused caller.
          if (refusedAt && now <= refusedAt) expect(allowed).toBe(false);
          refusedAt = allowed ? undefined : now;
        }
      }
    }),
  );
});

test('the reported quota is consistent, however the clock jumps', async () => {
  await fc.assert(
    fc.asyncProperty(scenario, async ({ limits, start, steps }) => {
      const counters = new MemoryQuotaCounters();
      let now = new Date(start);
      for (const { step } of steps) {
        now = new Date(now.getTime() + step);
        const { allowed, counts } = await counters.take({ subject: 'account:a', limits, now });
        const { window, remaining, resetAt } = judge(limits, counts, allowed, now).speaks;
        const length = window === 'minute' ? minute : day;
        expect(remaining).toBeGreaterThanOrEqual(0);
        if (!allowed) expect(remaining).toBe(0);
        expect(resetAt.getTime() % length).toBe(0);
        const wait = secondsUntil(resetAt, now);
        expect(Number.isInteger(wait)).toBe(true);
        expect([wait >= 1, wait * second <= length]).toEqual([true, true]);
        expect(now.getTime() + wait * second).toBeGreaterThanOrEqual(resetAt.getTime());
      }
    }),
  );
});
