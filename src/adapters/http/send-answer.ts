import { STATUS_CODES, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { contentOf, jsonType, type Answer } from './answer.ts';

/**
 * Sends an answer with one `writeHead` of a flat list. If headers were set separately, Node would store, look up and
 * copy all of them.
 * @param headers of every answer, as alternating names and values
 * @throws TypeError for a header that HTTP does not allow; nothing was sent then
 */
export const send = (
  response: ServerResponse,
  headers: readonly string[],
  { status, headers: own = {}, body }: Answer,
): void => {
  if (response.destroyed) return;
  const all = [...headers];
  const content = body === undefined ? '' : contentOf(body);
  const length = Buffer.byteLength(content);
  if (body !== undefined) all.push('Content-Type', jsonType, 'Content-Length', String(length));
  for (const name in own) setHeader(all, name, own[name] ?? '');
  response.writeHead(status, STATUS_CODES[status], all);
  if (response.req.method === 'HEAD') response.end();
  // Node writes Latin-1 faster, and ASCII text has the same bytes in both encodings.
  else response.end(content, length === content.length ? 'latin1' : 'utf8');
};

const setHeader = (all: string[], name: string, value: string): void => {
  let at = 0;
  while (at < all.length && all[at] !== name) at += 2;
  const before = name === 'Vary' ? all[at + 1] : undefined;
  all[at] = name;
  all[at + 1] = before === undefined ? value : `${before}, ${value}`;
};

/** How long the client may still send before we close the connection. Closing it immediately would lose the answer. */
const lingerMs = 1000;

/** Writes an answer directly to a socket that has no response object, and ends the connection. */
export const writeAnswer = (
  socket: Duplex,
  { status, headers, body }: Answer,
  method?: string,
): void => {
  const content = String(contentOf(body));
  const all = {
    'Content-Type': jsonType,
    ...headers,
    'Content-Length': String(Buffer.byteLength(content)),
    Date: new Date().toUTCString(),
    Connection: 'close',
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
  const head = [`HTTP/1.1 ${String(status)} ${STATUS_CODES[status] ?? ''}`, ...lines].join('\r\n');
  const timer = setTimeout(() => socket.destroy(), lingerMs);
  timer.unref();
  socket.once('close', () => {
    clearTimeout(timer);
  });
  socket.end(`${head}\r\n\r\n${method === 'HEAD' ? '' : content}`);
  socket.resume();
};
