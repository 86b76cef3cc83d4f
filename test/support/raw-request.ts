import { connect } from 'node:net';
import { text } from 'node:stream/consumers';

/**
 * Sends bytes as they are over a connection of their own, for what no HTTP client would send.
 * @returns everything that comes back until the server closes the connection
 */
export const rawRequest = (
  origin: string,
  lines: readonly string[],
  body = '',
): Promise<string> => {
  const { hostname, port } = new URL(origin);
  const socket = connect(Number(port), hostname);
  socket.setTimeout(30_000, () => socket.destroy(new Error('no answer within 30 s')));
  socket.write(`${lines.join('\r\n')}\r\n\r\n${body}`, 'latin1');
  return text(socket);
};
