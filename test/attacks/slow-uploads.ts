import { once } from 'node:events';
import { connect } from 'node:net';
import type { DashboardVisitor } from '../support/dashboard/visitor.ts';
import { uploadBody, uploadHeaders, uploadPath } from './ground.ts';

const byteEveryMs = 200;

export interface SlowUpload {
  /** Whether it was refused, or ended. */
  readonly isAnswered: () => boolean;
  readonly stop: () => void;
}

/** Starts an upload of a megabyte, and sends the rest byte by byte. */
export const slowUpload = async (
  { origin, cookie = '' }: DashboardVisitor,
  slug: string,
): Promise<SlowUpload> => {
  const { hostname, port, host } = new URL(origin);
  const socket = connect(Number(port), hostname);
  let isAnswered = false;
  socket.on('error', () => undefined).once('data', () => (isAnswered = true));
  await once(socket, 'connect');
  const headers = { Host: host, Cookie: cookie, ...uploadHeaders, 'Content-Length': 2 ** 20 };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${String(value)}\r\n`);
  socket.write(`POST ${uploadPath(slug)} HTTP/1.1\r\n${lines.join('')}\r\n`);
  socket.write(uploadBody(new Uint8Array(1000)).subarray(0, 1000));
  const dripping = setInterval(() => socket.write('x'), byteEveryMs);
  socket.once('close', () => {
    clearInterval(dripping);
  });
  return { isAnswered: () => isAnswered, stop: () => socket.destroy() };
};
