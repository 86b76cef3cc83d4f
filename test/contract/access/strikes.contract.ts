import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import type { QuotaCounters } from '../../../src/access/ports.ts';
import { newSubject, type OpenCounters } from '../../support/access/counters.ts';

const noon = new Date('2026-03-01T12:00:00.000Z');
const at = (milliseconds: number) => new Date(noon.getTime() + milliseconds);
const [minute, hour, day] = [60_000, 3_600_000, 86_400_000];
const limits = { perMinute: 1, perDay: 2 };

/** The other half of the counter contract: strikes. */
export const strikesContract = (open: () => Promise<OpenCounters>): void => {
  let opened: OpenCounters;
  let counters: QuotaCounters;
  let subject: string;
  let [key, otherKey] = ['', ''];
  beforeAll(async () => {
    opened = await open();
    counters = opened.counters;
  });
  afterAll(() => opened.close());
  beforeEach(() => {
    [subject, key, otherKey] = [newSubject(), newSubject('k'), newSubject('k')];
  });

  const strike = async (striker: string | undefined, now = noon, from = counters) =>
    (await from.take({ subject, limits, striker, now })).strikes;

  test('each refusal is a strike against the calling key, in any process', async () => {
    const strikes = [];
    for (let n = 0; n < 4; n++) {
      strikes.push(await strike(key, noon, n % 2 ? opened.secondProcess : counters));
    }
    expect(strikes).toEqual([0, 1, 2, 3]);
  });

  test('keys of one account share its quota but not their strikes', async () => {
    const strikers = [key, key, key, otherKey, key, otherKey];
    const strikes = [];
    for (const striker of strikers) strikes.push(await strike(striker));
    expect(strikes).toEqual([0, 1, 2, 1, 3, 2]);
  });

  test('twenty refusals at once are twenty strikes', async () => {
    await strike(key);
    const refusals = Array.from({ length: 20 }, (_, n) =>
      strike(key, noon, n % 2 ? opened.secondProcess : counters),
    );
    const strikes = (await Promise.all(refusals)).toSorted((a, b) => a - b);
    expect(strikes).toEqual(Array.from({ length: 20 }, (_, n) => n + 1));
  });

  test('a refusal without a key is not a strike', async () => {
    expect([await strike(undefined), await strike(undefined)]).toEqual([0, 0]);
    expect(await strike(key)).toBe(1);
  });

  test('strikes of different minutes do not add up, and refusals by the daily limit are strikes too', async () => {
    expect([await strike(key), await strike(key), await strike(key)]).toEqual([0, 1, 2]);
    const next = [await strike(key, at(minute)), await strike(key, at(minute))];
    expect(next).toEqual([0, 1]);
    const dayIsFull = [await strike(key, at(2 * minute)), await strike(key, at(3 * minute - 1))];
    expect(dayIsFull).toEqual([1, 2]);
  });

  test('a clock that jumps back, or forward and back, erases no strike', async () => {
    for (let n = 0; n < 4; n++) await strike(key);
    expect(await strike(key, at(-hour))).toBe(4);
    expect(await strike(key)).toBe(4);
    await strike(key, at(60 * day));
    expect(await strike(key)).toBe(5);
  });

  test('strikes do not count as requests, even for a subject named like the key', async () => {
    for (let n = 0; n < 4; n++) await strike(key);
    expect(await counters.peek(key, noon)).toEqual({ minute: 0, day: 0 });
    expect(await counters.peek(subject, noon)).toEqual({ minute: 1, day: 1 });
  });
};
