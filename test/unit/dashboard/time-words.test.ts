import { expect, test } from '@jest/globals';
import { day, fullTime, planned, time } from '../../../src/adapters/dashboard/frame/parts.ts';
import { inWords, inWordsWithDate } from '../../../src/adapters/dashboard/frame/time-words.js';
import { from, knownTimes } from '../../support/known-times.ts';

test.each(knownTimes)('a time %d ms away is "%s"', (ms, words, date) => {
  const at = new Date(from.getTime() + ms);
  expect(inWords(at, from)).toBe(words);
  expect(inWordsWithDate(at, from)).toBe(date === '' ? words : `${words}, ${date}`);
});

const at = new Date('2026-04-30T12:34:56Z');

test('a relative time has the exact time as its title, and beside it in detail views', () => {
  expect(String(time(at, from))).toMatch(
    /title="2026-04-30 12:34:56 UTC".*>in 60 days, 30 Apr 2026</,
  );
  expect(String(fullTime(at, from))).toMatch(
    />in 60 days<.*<small>2026-04-30 12:34:56 UTC<\/small>/,
  );
});

test('what is planned comes any moment once its time has passed', () => {
  for (const ms of [-59_000, 0, 400]) {
    expect(String(planned(new Date(from.getTime() + ms), from))).toContain('>any moment<');
  }
  expect(String(planned(new Date(from.getTime() + 2000), from))).toContain('>in 2 seconds<');
});

test('a day is written as in all other times', () => {
  expect(String(day(at))).toContain('>30 Apr 2026</time>');
});
