import { STATUS_CODES, type ServerResponse } from 'node:http';

/** An answer to a request. */
export interface Answer {
  readonly status: number;
  /** They replace those that every answer has; `Vary` is added to theirs. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Text and bytes are sent as they are, by default as JSON; anything else becomes JSON; undefined is no body. */
  readonly body: unknown;
}

export const jsonType = 'application/json; charset=utf-8';

export const contentOf = (body: unknown): string | Uint8Array =>
  typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body);

/**
 * Headers of every answer: no type sniffing, no caching (cacheable answers override it), and HSTS if the service uses
 * HTTPS.
 * @param publicUrl where clients reach the service
 */
export const fixedHeaders = (publicUrl: string): Readonly<Record<string, string>> => ({
  'X-Content-Type-Options': 'nosniff',
  'Cache-Control': 'no-store',
  ...(publicUrl.startsWith('https:') && { 'Strict-Transport-Security': 'max-age=31536000' }),
});

/**
 * Sends an answer with one `writeHead` of a flat list: a header that is set on its own makes Node keep, look up and copy
 * all of them.
 * @param headers of every answer, names and values in turns
 * @throws TypeError for a header that HTTP does not allow; nothing was sent then
 */
export const send = (
  response: ServerResponse,
  headers: readonly string[],
  { status, headers: own = {}, body }: Answer,
): void => {
  // The client is gone.
  if (response.destroyed) return;
  const all = [...headers];
  const content = body === undefined ? '' : contentOf(body);
  const length = Buffer.byteLength(content);
  if (body !== undefined) all.push('Content-Type', jsonType, 'Content-Length', String(length));
  for (const name in own) setHeader(all, name, own[name] ?? '');
  response.writeHead(status, STATUS_CODES[status], all);
  if (response.req.method === 'HEAD') response.end();
  // Node writes Latin-1 faster, and ASCII is the same in both: each of its characters is one byte.
  else response.end(content, length === content.length ? 'latin1' : 'utf8');
};

const setHeader = (all: string[], name: string, value: string): void => {
  let at = 0;
  while (at < all.length && all[at] !== name) at += 2;
  const before = name === 'Vary' ? all[at + 1] : undefined;
  all[at] = name;
  all[at + 1] = before === undefined ? value : `${before}, ${value}`;
};
