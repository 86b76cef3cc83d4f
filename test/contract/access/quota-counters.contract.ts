import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import type { Limits } from '../../../src/access/domain/quota.ts';
import type { QuotaCounters, Taken } from '../../../src/access/ports.ts';
import { newSubject, type OpenCounters } from '../../support/access/counters.ts';

const [minute, hour, day] = [60_000, 3_600_000, 86_400_000];
const noon = new Date('2026-03-01T12:00:00.000Z');
const at = (milliseconds: number) => new Date(noon.getTime() + milliseconds);
const plenty = 1_000_000;

export const quotaCountersContract = (open: () => Promise<OpenCounters>): void => {
  let opened: OpenCounters;
  let counters: QuotaCounters;
  let subject: string;
  beforeAll(async () => {
    opened = await open();
    counters = opened.counters;
  });
  afterAll(() => opened.close());
  beforeEach(() => {
    subject = newSubject();
  });

  const per = (perMinute: number, perDay = plenty): Limits => ({ perMinute, perDay });
  const take = (limits: Limits, now = noon, striker?: string, from = counters): Promise<Taken> =>
    from.take({ subject, limits, striker, now });
  const takeMany = async (
    times: number,
    limits: Limits,
    now = noon,
  ): Promise<readonly boolean[]> => {
    const outcomes = [];
    for (let n = 0; n < times; n++) outcomes.push((await take(limits, now)).allowed);
    return outcomes;
  };
  const peek = (now = noon) => counters.peek(subject, now);
  const bothProcesses = (n: number) => (n % 2 ? opened.secondProcess : counters);

  test.each([
    ['minute', per(30)],
    ['day', per(plenty, 30)],
  ])(
    'of N + 20 concurrent requests against a limit of N a %s, exactly N pass',
    async (_, limits) => {
      for (const from of [() => counters, bothProcesses]) {
        subject = newSubject();
        const takes = Array.from({ length: 50 }, (_, n) => take(limits, noon, 'key', from(n)));
        const all = await Promise.all(takes);
        const passed = all.filter(({ allowed }) => allowed).map((taken) => taken.counts.minute);
        expect(passed.toSorted((a, b) => a - b)).toEqual(
          Array.from({ length: 30 }, (_, n) => n + 1),
        );
        expect(await peek()).toEqual({ minute: 30, day: 30 });
      }
    },
  );

  test('a request that reports higher counts continues from them, and one that reports lower counts changes nothing', async () => {
    const knowing = (atLeast: Taken['counts']) =>
      counters.take({ subject, limits: per(30, 8), now: noon, atLeast });
    await take(per(30));
    expect(await knowing({ minute: 5, day: 6 })).toMatchObject({ counts: { minute: 6, day: 7 } });
    expect(await knowing({ minute: 1, day: 1 })).toMatchObject({ counts: { minute: 7, day: 8 } });
    expect(await knowing({ minute: 7, day: 8 })).toMatchObject({ allowed: false });
    expect(await peek()).toEqual({ minute: 7, day: 8 });
  });

  test('an unseen subject has no counts', async () => {
    expect(await peek()).toEqual({ minute: 0, day: 0 });
  });

  test('a request that passes counts in both windows and is not a strike', async () => {
    const taken = { allowed: true, strikes: 0 };
    expect(await take(per(2), noon, 'key')).toEqual({ ...taken, counts: { minute: 1, day: 1 } });
    const last = await take(per(2), noon, 'key', opened.secondProcess);
    expect(last).toEqual({ ...taken, counts: { minute: 2, day: 2 } });
  });

  test('a request that finds the minute full counts in neither window', async () => {
    expect(await takeMany(5, per(2, 3))).toEqual([true, true, false, false, false]);
    expect(await peek()).toEqual({ minute: 2, day: 2 });
    expect(await takeMany(2, per(2, 3), at(minute))).toEqual([true, false]);
  });

  test('a request that finds the day full counts in neither window', async () => {
    expect(await takeMany(4, per(9, 2))).toEqual([true, true, false, false]);
    expect(await peek()).toEqual({ minute: 2, day: 2 });
    expect(await takeMany(1, per(9, 2), at(minute))).toEqual([false]);
    expect(await peek(at(minute))).toEqual({ minute: 0, day: 2 });
  });

  test('each request uses its own limits: lower and higher ones apply at once', async () => {
    await takeMany(3, per(3));
    expect(await take(per(2))).toMatchObject({ allowed: false, counts: { minute: 3, day: 3 } });
    expect(await take(per(4))).toMatchObject({ allowed: true, counts: { minute: 4, day: 4 } });
    const most = { perMinute: Number.MAX_SAFE_INTEGER, perDay: Number.MAX_SAFE_INTEGER };
    expect(await take(most)).toMatchObject({ allowed: true, counts: { minute: 5, day: 5 } });
  });

  test('each subject has its own counts', async () => {
    await takeMany(2, per(2));
    const other = { subject: newSubject(), limits: per(2), now: noon };
    expect(await counters.take(other)).toMatchObject({ allowed: true, counts: { minute: 1 } });
    expect(await takeMany(1, per(2))).toEqual([false]);
  });

  test('a new minute and a new day begin on the UTC boundary, not a millisecond before', async () => {
    await takeMany(2, per(2, 4), at(minute - 1));
    expect(await takeMany(1, per(2, 4), at(0))).toEqual([false]);
    expect(await takeMany(3, per(2, 4), at(minute))).toEqual([true, true, false]);
    expect(await takeMany(1, per(2, 4), at(12 * hour - 1))).toEqual([false]);
    expect(await takeMany(3, per(2, 4), at(12 * hour))).toEqual([true, true, false]);
    expect(await peek(at(12 * hour))).toEqual({ minute: 2, day: 2 });
  });

  test('a clock that jumps back an hour or 60 days and forward again frees no quota', async () => {
    for (const jump of [-hour, -60 * day, 60 * day]) {
      subject = newSubject();
      expect(await takeMany(3, per(2, 2))).toEqual([true, true, false]);
      const there = await takeMany(3, per(2, 2), at(jump));
      expect(there).toEqual(jump < 0 ? [false, false, false] : [true, true, false]);
      expect(await takeMany(2, per(2, 2))).toEqual([false, false]);
      expect(await takeMany(2, per(2, 2), at(jump))).toEqual([false, false]);
      expect(await peek()).toEqual({ minute: 2, day: 2 });
    }
  });

  test('reading the counts changes nothing, whatever the time', async () => {
    await takeMany(2, per(2));
    for (const jump of [minute, -hour, day, 60 * day, -minute, 0]) await peek(at(jump));
    expect(await peek(at(day))).toEqual({ minute: 0, day: 0 });
    expect(await peek(at(-day))).toEqual({ minute: 2, day: 2 });
    expect(await peek()).toEqual({ minute: 2, day: 2 });
    expect(await takeMany(1, per(2))).toEqual([false]);
  });
};
