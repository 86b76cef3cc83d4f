import { fixedTime } from './settable-clock.ts';
const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

/** `knownTimes` gives the words for moments this many milliseconds away, and the date if days are between. */
export const from = fixedTime('2026-03-01T10:00:00Z');
export const knownTimes: readonly (readonly [ms: number, words: string, date: string])[] = [
  [0, 'just now', ''],
  [400, 'just now', ''],
  [second, 'in 1 second', ''],
  [59.4 * second, 'in 59 seconds', ''],
  [59.5 * second, 'in 1 minute', ''],
  [-59.4 * second, 'just now', ''],
  [-60 * second, '1 minute ago', ''],
  [89 * second, 'in 1 minute', ''],
  [90 * second, 'in 2 minutes', ''],
  [-90 * second, '2 minutes ago', ''],
  [59.4 * minute, 'in 59 minutes', ''],
  [59.5 * minute, 'in 1 hour', ''],
  [12 * hour - second, 'in 12 hours', ''],
  [-11.4 * hour, '11 hours ago', ''],
  [36 * hour, 'in 36 hours', ''],
  [47.4 * hour, 'in 47 hours', ''],
  [47.5 * hour, 'in 2 days', '3 Mar 2026'],
  [-47.5 * hour, '2 days ago', '27 Feb 2026'],
  [7 * day - second, 'in 7 days', '8 Mar 2026'],
  [60 * day, 'in 60 days', '30 Apr 2026'],
  [90 * day - second, 'in 90 days', '30 May 2026'],
  [-99.4 * day, '99 days ago', '22 Nov 2025'],
  [100 * day, 'in 3 months', '9 Jun 2026'],
  [365 * day, 'in 12 months', '1 Mar 2027'],
  [-365 * day, '12 months ago', '1 Mar 2025'],
  [730 * day, 'in 2 years', '29 Feb 2028'],
];
