import type { Context } from 'koa';
import bodyParser from 'koa-bodyparser';
import { RequestError } from '../answers/error-table.ts';
import { parseExactJson } from '../answers/json.ts';

export const largestBody = 64 * 1024;

/** Characters of a Content-Type: RFC 6838 allows 127 on each side of the slash, and a charset follows. */
const longestType = 512;

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Reads JSON as text, because JSON.parse would round an int64. Without an encoding the text arrives as bytes: the
 * package would replace invalid UTF-8 silently.
 */
const reading = {
  enableTypes: ['text'],
  extendTypes: { text: ['application/json'] },
  textLimit: String(largestBody),
  encoding: '',
};
const readBytes = bodyParser(reading);

export interface JsonBody {
  /** The body as it was sent. */
  readonly text: string;
  readonly value: unknown;
}

/**
 * Reads a JSON body of at most 64 KiB, counted while it arrives.
 * @throws RequestError `unsupported_media_type`, `payload_too_large`, `malformed_json`
 */
export const readJsonBody = async (ctx: Context): Promise<JsonBody> => {
  requireJson(ctx);
  const text = await readText(ctx);
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

const requireJson = (ctx: Context): void => {
  const type = ctx.get('Content-Type');
  const encoding = ctx.get('Content-Encoding') || 'identity';
  const charset = (type.length <= longestType && ctx.request.charset) || 'utf-8';
  if (
    type.length <= longestType &&
    /^application\/json\s*(;|$)/i.test(type) &&
    /^utf-?8$/i.test(charset) &&
    encoding.toLowerCase() === 'identity'
  ) {
    return;
  }
  throw new RequestError(
    'unsupported_media_type',
    'Send the body as "Content-Type: application/json" in UTF-8, without Content-Encoding.',
  );
};

const readText = async (ctx: Context): Promise<string> => {
  try {
    await readBytes(ctx, () => Promise.resolve());
    const { rawBody } = ctx.request as { readonly rawBody?: unknown };
    return rawBody === undefined ? '' : utf8.decode(rawBody as Uint8Array);
  } catch (error) {
    // The request broke off: this error already names the cause.
    if (error instanceof RequestError) throw error;
    if ((error as { type?: unknown }).type === 'entity.too.large') {
      throw new RequestError(
        'payload_too_large',
        `The body is larger than 64 KiB (${String(largestBody)} bytes); send less.`,
        { Connection: 'close' },
      );
    }
    throw new RequestError('malformed_json', 'The body did not arrive completely as UTF-8 text.');
  }
};
