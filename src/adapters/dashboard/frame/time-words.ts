/**
 * Each unit and the most of it: 90 minutes are "2 hours", but 36 hours are not "2 days". browser.js has the same table.
 */
const units = [
  ['second', 1, 60],
  ['minute', 60, 60],
  ['hour', 3600, 48],
  ['day', 86_400, 100],
  ['month', 30.4375 * 86_400, 24],
  ['year', 365.25 * 86_400, Infinity],
] as const satisfies readonly (readonly [Intl.RelativeTimeFormatUnit, number, number])[];

/** Made with the first page: it takes milliseconds. */
let relative: Intl.RelativeTimeFormat | undefined;
const months = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ');

const secondsBetween = (at: Date, now: Date): number =>
  Math.round((at.getTime() - now.getTime()) / 1000);

/** As people say it, rounded to the nearest: "3 minutes ago", "in 2 hours", "just now" for the last minute. */
export const inWords = (at: Date, now: Date): string => {
  const seconds = secondsBetween(at, now);
  if (seconds <= 0 && seconds > -60) return 'just now';
  const away = Math.abs(seconds);
  const [unit, size] = units.find(([, size, end]) => Math.round(away / size) < end) ?? units[5];
  relative ??= new Intl.RelativeTimeFormat('en', { numeric: 'always' });
  return relative.format(Math.sign(seconds) * Math.round(away / size), unit);
};

/** `20 Jan 2027`, in UTC */
export const dateInWords = (at: Date): string =>
  `${at.getUTCDate()} ${months[at.getUTCMonth()] ?? ''} ${at.getUTCFullYear()}`;

/** The same with the date where it is days away: "in 60 days, 20 Jan 2027". */
export const inWordsWithDate = (at: Date, now: Date): string => {
  const words = inWords(at, now);
  const isDaysAway = Math.round(Math.abs(secondsBetween(at, now)) / 3600) >= 48;
  return isDaysAway ? `${words}, ${dateInWords(at)}` : words;
};
