/**
 * Returns whether the text is one trimmed line of 1 to `longest` code points, without control characters or unpaired
 * surrogates.
 */
export const isLine = (text: string, longest: number): boolean => {
  if (text.length > 2 * longest) return false;
  const length = [...text].length;
  return (
    length >= 1 &&
    length <= longest &&
    text === text.trim() &&
    text.isWellFormed() &&
    !/[\p{Cc}\p{Zl}\p{Zp}]/u.test(text)
  );
};

/**
 * Returns whether the text is a line without direction marks, which could imitate another name or reorder the following
 * words.
 */
export const isName = (text: string, longest: number): boolean =>
  isLine(text, longest) && !/\p{Bidi_Control}/u.test(text);

/** Whether the text is a day that exists, like 2027-01-31. `Date` would read 30 February as 2 March. */
export const isDay = (text: string): boolean => {
  if (!/^\d{4}-\d\d-\d\d$/.test(text)) return false;
  const day = new Date(text);
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text);
};

export const inWords = (milliseconds: number): string => {
  const seconds = Math.max(1, Math.ceil(milliseconds / 1000));
  if (seconds < 120) return counted(seconds, 'second');
  const minutes = Math.ceil(seconds / 60);
  return minutes < 120 ? counted(minutes, 'minute') : counted(Math.ceil(minutes / 60), 'hour');
};

export const counted = (count: number, unit: string): string =>
  `${count} ${unit}${count === 1 ? '' : 's'}`;

export const bytesInWords = (bytes: number): string => {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  const step = bytes < 1 ? 0 : Math.min(4, Math.floor(Math.log2(bytes) / 10));
  const size = bytes / 1024 ** step;
  return `${Number.isInteger(size) ? String(size) : size.toFixed(1)} ${String(units[step])}`;
};

const longestShown = 500;
const mayHoldSecret = /%|sign|shared|pets_live_/i;
/** Matches `sign-in`, `Sign_In`, `signin` and `shared-domain` with the character that follows. */
const secretPlace = /(?:sign[^a-z0-9]{0,3}in|shared[^a-z0-9]{0,3}domain)[^a-z0-9]/i;
const apiKey = /pets_live_[0-9a-z]+/gi;

/** Hides API keys, and what follows "sign-in" or "shared-domain" in any spelling, which is a link's secret. */
export const shownPath = (path: string): string => {
  if (!mayHoldSecret.test(path)) return cut(path);
  const plain = decoded(path);
  const hidden = untilSecret(plain).replace(apiKey, 'pets_live_…');
  return cut(hidden === plain ? path : hidden);
};

const untilSecret = (path: string): string => {
  const place = secretPlace.exec(path);
  if (!place) return path;
  const end = place.index + place[0].length;
  return end === path.length ? path : `${path.slice(0, end)}…`;
};

const cut = (path: string): string =>
  path.length > longestShown ? `${path.slice(0, longestShown)}…` : path;

/** Decodes letters and digits that were escaped up to three times. Other characters cannot hide a word. */
const decoded = (path: string): string => {
  let plain = path;
  for (let times = 0; times < 3 && plain.includes('%'); times++) {
    plain = plain.replace(/%([2-7][0-9a-f])/gi, (_, code: string) =>
      String.fromCharCode(parseInt(code, 16)),
    );
  }
  return plain;
};
