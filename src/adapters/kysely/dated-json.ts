import { types } from 'node:util';

/** JSON that keeps times as times: each becomes `{"$date": …}`. */
export const toDatedJson = (value: unknown): string =>
  JSON.stringify(value, function (this: Record<string, unknown>, key: string, plain: unknown) {
    // `plain` is text already where there was a Date.
    const original = this[key];
    return types.isDate(original) ? { $date: original.toISOString() } : plain;
  });

/** @throws SyntaxError when it is no JSON */
export const fromDatedJson = (text: string): unknown => dated(JSON.parse(text));

/** In place, and not as a reviver of `JSON.parse`, with which a list of a thousand takes three times as long. */
const dated = (value: unknown): unknown => {
  if (typeof value !== 'object' || value === null) return value;
  if ('$date' in value) return new Date(String(value.$date));
  const fields = value as Record<string, unknown>;
  for (const key of Object.keys(fields)) {
    if (typeof fields[key] === 'object') fields[key] = dated(fields[key]);
  }
  return value;
};
