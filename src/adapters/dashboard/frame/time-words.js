/** Each unit and its maximum: 90 minutes are "2 hours", but 36 hours are not "2 days". */
const units = [
  ['second', 1, 60],
  ['minute', 60, 60],
  ['hour', 3600, 48],
  ['day', 86_400, 100],
  ['month', 30.4375 * 86_400, 24],
  ['year', 365.25 * 86_400, Infinity],
];

let relative;
const months = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ');

const secondsBetween = (at, now) => Math.round((at.getTime() - now.getTime()) / 1000);

export const inWords = (at, now) => {
  const seconds = secondsBetween(at, now);
  if (seconds <= 0 && seconds > -60) return 'just now';
  const away = Math.abs(seconds);
  const [unit, size] = units.find(([, size, end]) => Math.round(away / size) < end);
  relative ??= new Intl.RelativeTimeFormat('en', { numeric: 'always' });
  return relative.format(Math.sign(seconds) * Math.round(away / size), unit);
};

/** For planned work, which has not happened yet even if its time has passed. */
export const plannedInWords = (at, now, date) =>
  secondsBetween(at, now) <= 0 ? 'any moment' : inWordsWithDate(at, now, date);

export const dateInWords = (at) =>
  `${at.getUTCDate()} ${months[at.getUTCMonth()]} ${at.getUTCFullYear()}`;

/** @param date formats the day, for example in the browser's zone */
export const inWordsWithDate = (at, now, date = dateInWords) => {
  const words = inWords(at, now);
  const isDaysAway = Math.round(Math.abs(secondsBetween(at, now)) / 3600) >= 48;
  return isDaysAway ? `${words}, ${date(at)}` : words;
};
