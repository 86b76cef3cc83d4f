import { STATUS_CODES, type ServerResponse } from 'node:http';
import { contentOf, jsonType, type Answer } from './answer.ts';

/**
 * Sends an answer with one `writeHead` of a flat list: a header that is set on its own makes Node keep, look up and copy
 * all of them.
 * @param headers of every answer, names and values in turns
 * @throws TypeError for a header that HTTP does not allow; nothing was sent then
 */
export const send = (
  response: ServerResponse,
  headers: readonly string[],
  { status, headers: own, body }: Answer,
): void => {
  // The client is gone.
  if (response.destroyed) return;
  const content = contentOf(body ?? '');
  const length = Buffer.byteLength(content);
  const all = [...headers, 'Content-Type', jsonType, 'Content-Length', String(length)];
  for (const name in own) setHeader(all, name, own[name] ?? '');
  response.writeHead(status, STATUS_CODES[status], all);
  if (response.req.method === 'HEAD') response.end();
  // Node writes Latin-1 faster, and ASCII is the same in both: each of its characters is one byte.
  else response.end(content, length === content.length ? 'latin1' : 'utf8');
};

const setHeader = (all: string[], name: string, value: string): void => {
  let at = 0;
  while (at < all.length && all[at] !== name) at += 2;
  all[at] = name;
  all[at + 1] = value;
};
