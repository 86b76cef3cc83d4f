// ECMAScript's "JSON.parse source text access", which TypeScript's library does not know yet.
type SourceReviver = (key: string, value: unknown, context: { readonly source: string }) => unknown;
interface ExactJson {
  parse(text: string, reviver: SourceReviver): unknown;
  rawJSON?(text: string): unknown;
}

const json: ExactJson = JSON as unknown as ExactJson;

/** The fields of the API that are int64. */
export const int64Fields: ReadonlySet<string> = new Set(['id', 'categoryId', 'petId']);

const rawJson = (text: string): unknown => {
  if (json.rawJSON) return json.rawJSON(text);
  throw new Error(
    'This JavaScript engine rounds large numbers in JSON. Use Node 22, Chrome 114, Firefox 135, Safari 18.4 or newer.',
  );
};

/**
 * Reads an answer of the API with exact numbers.
 * @param read converts the digits of an int64 field
 * @throws SyntaxError; Error if the engine does not show the digits
 */
export const parseExact = (text: string, read: (digits: string) => unknown): unknown => {
  rawJson('0');
  return json.parse(text, (key, value, { source }) =>
    typeof value === 'number' && int64Fields.has(key) ? read(source) : value,
  );
};

/** Writes bigints, and int64 fields with digits as a string, as JSON numbers. */
export const stringifyExact = (value: unknown): string =>
  JSON.stringify(value, (key, part: unknown) => {
    if (typeof part === 'bigint') return rawJson(String(part));
    const isDigits = typeof part === 'string' && int64Fields.has(key) && /^\d{1,19}$/.test(part);
    return isDigits ? rawJson(String(BigInt(part))) : part;
  });
