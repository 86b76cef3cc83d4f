import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { DashboardVisitor } from '../dashboard/visitor.ts';

export const partHead =
  '--x\r\nContent-Disposition: form-data; name="archive"; filename="a.zip"\r\n\r\n';
export const partEnd = '\r\n--x--\r\n';

/** A form with one file, whose bytes the test controls. */
export const uploadHead = (path: string, visitor: DashboardVisitor, length: number): string =>
  [
    `POST ${path} HTTP/1.1`,
    'Host: x',
    'Sec-Fetch-Site: same-origin',
    `Cookie: ${visitor.cookie!}`,
    'Content-Type: multipart/form-data; boundary=x',
    `Content-Length: ${String(length)}`,
    '\r\n',
  ].join('\r\n');

/** A connection that a test writes to; its errors do not fail the test. */
export const connectTo = async (origin: string): Promise<Socket> => {
  const { hostname, port } = new URL(origin);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => undefined).resume();
  await once(socket, 'connect');
  return socket;
};
