// ECMAScript's "JSON.parse source text access": in Node since 22, not yet in TypeScript's library.
declare global {
  interface JSON {
    rawJSON(text: string): unknown;
  }
}

type SourceReviver = (key: string, value: unknown, context: { source?: string }) => unknown;

const mayLoseDigits = /[\d.]{16}/;
const integer = /^-?\d+$/;
const longestInteger = 20;

/**
 * JSON.parse that keeps every digit: integers beyond 2^53 become a bigint. A fraction that may have been rounded to an
 * integer becomes NaN, and so does an integer too long for an int64. @throws SyntaxError, RangeError
 */
export const parseExactJson = (text: string): unknown => {
  // The reviver makes parsing several times slower, so only bodies that need it pay for it.
  if (!mayLoseDigits.test(text)) return JSON.parse(text);
  const keepDigits: SourceReviver = (_key, value, { source }) => {
    if (typeof value !== 'number' || source === undefined) return value;
    // Long bigints are slow to parse; an int64 with its sign has at most 20 characters.
    if (source.length > longestInteger) return Number.NaN;
    if (integer.test(source)) return Number.isSafeInteger(value) ? value : BigInt(source);
    return mayLoseDigits.test(source) ? Number.NaN : value;
  };
  return JSON.parse(text, keepDigits as (key: string, value: unknown) => unknown);
};

/** An int64 for JSON.stringify, digit for digit. */
export const exactInteger = (value: bigint): unknown => {
  // Rounding never makes a larger one safe, and comparing bigints with numbers is slow.
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : JSON.rawJSON(String(value));
};
