import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { neverMs } from '../until.ts';

/**
 * Sends raw bytes over a new connection, for requests that no HTTP client would send.
 * @returns everything received until the server closes the connection
 */
export const rawRequest = (
  origin: string,
  lines: readonly string[],
  body = '',
): Promise<string> => {
  const { hostname, port } = new URL(origin);
  const socket = connect(Number(port), hostname);
  socket.setTimeout(neverMs, () => socket.destroy(new Error('no end of the answer')));
  socket.write(`${lines.join('\r\n')}\r\n\r\n${body}`, 'latin1');
  return text(socket);
};
