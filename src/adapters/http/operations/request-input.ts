import type { IncomingMessage } from 'node:http';
import { MIMEType } from 'node:util';
import readStream from 'raw-body';
import * as v from 'valibot';
import { RequestError, type ErrorCode } from '../error-table.ts';

/** Checks a value against a schema. @throws RequestError whose message names each wrong field */
export const parse = <Output>(
  schema: v.GenericSchema<unknown, Output>,
  value: unknown,
  code: ErrorCode,
): Output => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new RequestError(
      code,
      'The body must be a JSON object, like {"name":"Rex","categoryId":7}.',
    );
  }
  const result = v.safeParse(schema, value, { abortPipeEarly: true });
  if (result.success) return result.output;
  const problems = result.issues.map(
    (issue) => `${v.getDotPath(issue) ?? 'The body'} ${issue.message}`,
  );
  throw new RequestError(code, `${[...new Set(problems)].join('; ')}.`);
};

const mostRemembered = 500;
const longestRemembered = 200;

/** Caches what it has read, because clients repeat a few queries. @throws RequestError `invalid_parameter` */
export const queryReader = <Output>(
  schema: v.GenericSchema<unknown, Output>,
): ((query: string) => Output) => {
  const known = new Map<string, Output>();
  return (query) => {
    const before = known.get(query);
    if (before !== undefined) return before;
    const read = parse(schema, queryRecord(query), 'invalid_parameter');
    if (query.length > longestRemembered) return read;
    if (known.size >= mostRemembered) known.clear();
    known.set(copyOf(query), read);
    return read;
  };
};

/** Copies the text: a substring would keep its whole source in memory, here an address of up to 15 KB. */
const copyOf = (text: string): string => Buffer.from(text, 'latin1').toString('latin1');

/** Reads a query string with one value per name. @throws RequestError `invalid_parameter` for a repeated name */
const queryRecord = (query: string): Readonly<Record<string, string>> => {
  const record: Record<string, string> = Object.create(null) as Record<string, string>;
  for (const [name, value] of new URLSearchParams(query)) {
    if (name in record) {
      throw new RequestError('invalid_parameter', `${name.slice(0, 40)} must be given once.`);
    }
    record[name] = value;
  }
  return record;
};

export const largestBody = 64 * 1024;

/** Characters: RFC 6838 allows 127 on each side of the slash, and a charset follows. */
const longestType = 512;

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

export interface JsonBody {
  readonly text: string;
  readonly value: unknown;
}

/**
 * Reads a JSON body of at most 64 KiB as text, because JSON.parse would round an int64.
 * @throws RequestError `unsupported_media_type`, `payload_too_large`, `malformed_json`
 */
export const readJsonBody = async (request: IncomingMessage): Promise<JsonBody> => {
  requireJson(request);
  const text = textOf(await readBytes(request));
  if (text.trim() === '') {
    throw new RequestError('malformed_json', 'The body is empty; send a JSON object.');
  }
  try {
    return { text, value: parseExactJson(text) };
  } catch (error) {
    const where = error instanceof Error ? ` (${error.message.slice(0, 200)})` : '';
    throw new RequestError('malformed_json', `The body is not valid JSON${where}.`);
  }
};

type SourceReviver = (key: string, value: unknown, context: { source?: string }) => unknown;

const mayLoseDigits = /[\d.]{16}/;
const integer = /^-?\d+$/;
const longestInteger = 20;

/**
 * Parses JSON without losing digits: integers beyond 2^53 become a bigint. A fraction that may have been rounded to an
 * integer becomes NaN, and so does an integer that is too long for an int64.
 * @throws SyntaxError, RangeError
 */
export const parseExactJson = (text: string): unknown => {
  // The reviver makes parsing several times slower, so it runs only for bodies that need it.
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

const requireJson = ({ headers }: IncomingMessage): void => {
  const { 'content-type': type = '', 'content-encoding': encoding = '' } = headers;
  const isPlain = encoding === '' || encoding.toLowerCase() === 'identity';
  if (isPlain && (type === 'application/json' || isJsonInUtf8(type))) return;
  throw new RequestError('unsupported_media_type');
};

const isJsonInUtf8 = (type: string): boolean =>
  type.length <= longestType &&
  /^application\/json\s*(;|$)/i.test(type) &&
  /^utf-?8$/i.test(charsetOf(type) ?? 'utf-8');

const charsetOf = (type: string): string | null => {
  try {
    return new MIMEType(type).params.get('charset');
  } catch {
    return null;
  }
};

/** @throws RequestError `payload_too_large`, `malformed_json` for a body that is cut off, or the listener's finding */
const readBytes = async (request: IncomingMessage): Promise<Uint8Array> => {
  const { 'content-length': length, 'transfer-encoding': coding } = request.headers;
  if (length === undefined && coding === undefined) return new Uint8Array();
  try {
    return await readStream(request, { length: length ?? null, limit: largestBody });
  } catch (error) {
    if (error instanceof RequestError) throw error;
    throw (error as { type?: string }).type === 'entity.too.large' ? tooLarge() : brokenOff();
  }
};

const tooLarge = () =>
  new RequestError(
    'payload_too_large',
    `The body is larger than 64 KiB (${String(largestBody)} bytes); send less.`,
    { Connection: 'close' },
  );

const brokenOff = () =>
  new RequestError('malformed_json', 'The body did not arrive completely. Send it again.');

/** Refuses invalid UTF-8, which Node would silently replace. */
const textOf = (bytes: Uint8Array): string => {
  try {
    return utf8.decode(bytes);
  } catch {
    throw new RequestError('malformed_json', 'The body is not valid UTF-8. Send JSON in UTF-8.');
  }
};
