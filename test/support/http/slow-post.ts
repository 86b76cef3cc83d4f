import { connect } from 'node:net';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';

export interface SlowPost {
  /** Sends the rest. @returns everything received after `100 Continue` */
  finish(): Promise<string>;
  abandon(): void;
}

/**
 * An animal being added by a client that has not sent the body yet. The server has accepted the request:
 * it has answered `Expect: 100-continue`.
 */
export const slowPost = async (origin: string, key: string, body: string): Promise<SlowPost> => {
  const { hostname, port } = new URL(origin);
  const socket = connect(Number(port), hostname).setEncoding('latin1');
  socket.on('error', () => undefined);
  const lines = [
    'POST /v1/pets HTTP/1.1',
    `Host: ${hostname}:${port}`,
    `Authorization: Bearer ${key}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Expect: 100-continue',
  ];
  socket.write(`${lines.join('\r\n')}\r\n\r\n`);
  const [invitation] = (await once(socket, 'data')) as [string];
  if (!invitation.startsWith('HTTP/1.1 100 Continue')) throw new Error(invitation);
  return {
    finish: () => {
      socket.write(body);
      return text(socket);
    },
    abandon: () => void socket.destroy(),
  };
};
