import type { IncomingMessage } from 'node:http';
import { MIMEType } from 'node:util';
import readStream from 'raw-body';
import { RequestError } from '../error-table.ts';
import { parseExactJson } from '../answers/json.ts';

export const largestBody = 64 * 1024;

/** Characters of a Content-Type: RFC 6838 allows 127 on each side of the slash, and a charset follows. */
const longestType = 512;

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

export interface JsonBody {
  /** The body as it was sent. */
  readonly text: string;
  readonly value: unknown;
}

/**
 * Reads a JSON body of at most 64 KiB, as text: JSON.parse would round an int64.
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

const requireJson = ({ headers }: IncomingMessage): void => {
  const { 'content-type': type = '', 'content-encoding': encoding = '' } = headers;
  const isPlain = encoding === '' || encoding.toLowerCase() === 'identity';
  if (isPlain && (type === 'application/json' || isJsonInUtf8(type))) return;
  throw new RequestError(
    'unsupported_media_type',
    'Send the body as "Content-Type: application/json" in UTF-8, without Content-Encoding.',
  );
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

/** @throws RequestError `payload_too_large`, `malformed_json` when it breaks off; or what the listener found wrong */
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
  new RequestError('malformed_json', 'The body did not arrive completely as UTF-8 text.');

/** Node would replace invalid UTF-8 silently. */
const textOf = (bytes: Uint8Array): string => {
  try {
    return utf8.decode(bytes);
  } catch {
    throw brokenOff();
  }
};
