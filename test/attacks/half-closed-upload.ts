import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import type { DashboardVisitor } from '../support/dashboard/visitor.ts';
import { uploadBody, uploadHeaders, uploadPath } from './ground.ts';

/** Sends a whole upload and half-closes with its last byte. @returns the answer, if any */
export const halfClosedUpload = async (
  { origin, cookie = '' }: DashboardVisitor,
  slug: string,
  archive: Uint8Array,
): Promise<string> => {
  const { hostname, port, host } = new URL(origin);
  const body = uploadBody(archive);
  const socket = connect({ port: Number(port), host: hostname, allowHalfOpen: true });
  socket.on('error', () => undefined).setTimeout(60_000, () => socket.destroy());
  await once(socket, 'connect');
  const headers = { Host: host, Cookie: cookie, ...uploadHeaders, 'Content-Length': body.length };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${String(value)}\r\n`);
  socket.write(`POST ${uploadPath(slug)} HTTP/1.1\r\n${lines.join('')}\r\n`);
  socket.end(body);
  return text(socket).catch(() => '');
};
