import {
  countIn,
  judge,
  secondsUntil,
  type WindowCount,
  windowIndex,
  windowSeconds,
} from '../../../src/access/domain/quota.ts';
import { MemoryQuotaCounters } from '../../../src/adapters/memory/memory-quota-counters.ts';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';

const now = new Date('2026-03-01T12:34:29.500Z');
const limits = { perMinute: 60, perDay: 1000 };
const count = fc.integer({ min: 0, max: 2000 });
const limit = fc.integer({ min: 1, max: 2000 });
const moment = fc.date({
  min: new Date('1970-01-01T00:00:00Z'),
  max: new Date('2100-01-01T00:00:00Z'),
  noInvalidDate: true,
});

/** Visits windows one after the other and counts one request in each visit. */
const visit = (...indexes: readonly number[]) =>
  indexes.reduce<WindowCount | undefined>((kept, index) => {
    const window = countIn(kept, index);
    return { ...window, count: window.count + 1 };
  }, undefined);

describe('the count in a window', () => {
  test('starts at zero and continues while the window lasts', () => {
    expect(countIn(undefined, 7)).toEqual({ index: 7, count: 0 });
    expect(countIn(visit(7, 7, 7), 7)).toEqual({ index: 7, count: 3 });
  });

  test('starts at zero in a later window', () => {
    expect(countIn(visit(7, 7), 8)).toMatchObject({ index: 8, count: 0 });
    expect(countIn(visit(7, 7), 1_000_000)).toMatchObject({ count: 0 });
  });

  test('is at least that of the window from which the clock jumped back', () => {
    expect(countIn(visit(7, 7, 7), 6)).toMatchObject({ index: 6, count: 3 });
    expect(countIn(visit(6, 6, 6, 7), 6)).toMatchObject({ index: 6, count: 3 });
    expect(countIn(visit(6, 7, 7), 6)).toMatchObject({ index: 6, count: 2 });
  });

  test('continues after a jump forward and back, or back and forward', () => {
    expect(countIn(visit(7, 7, 99), 7)).toMatchObject({ count: 2 });
    expect(countIn(visit(7, 7, 3), 7)).toMatchObject({ count: 2 });
  });

  test('never falls below its own earlier count in the last window or the one before', () => {
    const indexes = fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 30 });
    fc.assert(
      fc.property(indexes, (visits) => {
        let kept: WindowCount | undefined;
        let [last, before] = [
          { index: 0, counted: 0 },
          { index: 0, counted: 0 },
        ];
        for (const index of visits) {
          if (index === before.index) [last, before] = [before, last];
          else if (index !== last.index) [last, before] = [{ index, counted: 0 }, last];
          kept = countIn(kept, index);
          expect(kept.index).toBe(index);
          expect(kept.count).toBeGreaterThanOrEqual(last.counted);
          if (index < before.index) expect(kept.count).toBeGreaterThanOrEqual(before.counted);
          kept = { ...kept, count: kept.count + 1 };
          last = { index, counted: last.counted + 1 };
        }
      }),
    );
  });

  test('loses nothing while the clock alternates between two windows', () => {
    const flaps = fc.tuple(count, count, fc.array(fc.boolean(), { maxLength: 30 }));
    fc.assert(
      fc.property(flaps, ([a, b, later]) => {
        fc.pre(a !== b);
        const kept = visit(a, ...later.map((is) => (is ? b : a)));
        const counted = (index: number) => later.filter((is) => index === (is ? b : a)).length;
        expect(countIn(kept, a).count).toBeGreaterThanOrEqual(1 + counted(a));
        expect(countIn(kept, b).count).toBeGreaterThanOrEqual(counted(b));
      }),
    );
  });

  test('stores only one previous window, however long it runs', () => {
    const { previous } = visit(1, 2, 3, 4) ?? {};
    expect(previous).toEqual({ index: 3, count: 1 });
  });
});

describe('an answer describes', () => {
  const speaks = (minute: number, day: number, allowed = true) =>
    judge(limits, { minute, day }, allowed, now).speaks;
  const nextMinute = new Date('2026-03-01T12:35:00Z');
  const nextDay = new Date('2026-03-02T00:00:00Z');

  test('the window with the least quota left', () => {
    const minute = { window: 'minute', limit: 60, remaining: 59, resetAt: nextMinute };
    expect(speaks(1, 1)).toEqual(minute);
    const day = { window: 'day', limit: 1000, remaining: 5, resetAt: nextDay };
    expect(speaks(1, 995)).toEqual(day);
  });

  test('the day when both windows have the same quota left', () => {
    expect(speaks(50, 990)).toMatchObject({ window: 'day', remaining: 10 });
  });

  test('the window that refused, or the later reset when both did', () => {
    expect(speaks(60, 500, false)).toMatchObject({ window: 'minute', remaining: 0 });
    expect(speaks(3, 1000, false)).toMatchObject({ window: 'day', remaining: 0 });
    expect(speaks(60, 1000, false)).toMatchObject({ window: 'day', resetAt: nextDay });
    expect(speaks(70, 2000, false)).toMatchObject({ window: 'day', remaining: 0 });
  });

  test('an existing window with the least left, which resets in the future', () => {
    const anything = fc.record({
      perMinute: limit,
      perDay: limit,
      minute: count,
      day: count,
      allowed: fc.boolean(),
      at: moment,
    });
    fc.assert(
      fc.property(anything, ({ perMinute, perDay, minute, day, allowed, at }) => {
        const { kind, speaks } = judge({ perMinute, perDay }, { minute, day }, allowed, at);
        const [ofMinute, ofDay] = [perMinute - minute, perDay - day].map((n) => Math.max(0, n));
        expect(kind).toBe(allowed ? 'allowed' : 'refused');
        expect(speaks.remaining).toBe(Math.min(ofMinute ?? 0, ofDay ?? 0));
        expect(speaks.resetAt.getTime()).toBeGreaterThan(at.getTime());
        expect(speaks.resetAt.getTime() % (windowSeconds[speaks.window] * 1000)).toBe(0);
        expect(windowIndex(speaks.window, speaks.resetAt)).toBe(windowIndex(speaks.window, at) + 1);
      }),
    );
  });
});

test('the wait is a whole number of seconds and at least one, even when the time has passed', () => {
  const at = (milliseconds: number) => new Date(now.getTime() + milliseconds);
  const waits = [-86_400_000, -1, 0, 1, 999, 1000, 1001, 30_500].map((ms) =>
    secondsUntil(at(ms), now),
  );
  expect(waits).toEqual([1, 1, 1, 1, 1, 1, 2, 31]);
  fc.assert(
    fc.property(moment, moment, (then, its) => {
      const wait = secondsUntil(then, its);
      return Number.isInteger(wait) && wait >= 1 && its.getTime() + wait * 1000 >= then.getTime();
    }),
  );
});

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

/** Counts the requests that passed in a window. A window that was left for two others may start again. */
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
          // Setting the clock back never frees quota.
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
