import { types } from 'node:util';

/** JSON that keeps times as times: each becomes `{"$date": …}`. */
export const toDatedJson = (value: unknown): string =>
  JSON.stringify(value, function (this: Record<string, unknown>, key: string, plain: unknown) {
    // `plain` is text already where there was a Date.
    const original = this[key];
    return types.isDate(original) ? { $date: original.toISOString() } : plain;
  });

/** @throws SyntaxError when it is no JSON */
export const fromDatedJson = (text: string): unknown =>
  JSON.parse(text, (_key, value: unknown) => {
    if (typeof value !== 'object' || value === null || !('$date' in value)) return value;
    return new Date(String(value.$date));
  });
