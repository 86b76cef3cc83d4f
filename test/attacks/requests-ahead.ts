import { connect } from 'node:net';

/** Pipelines that many requests over one connection, and waits until the service closes it. */
export const sendAhead = async (origin: string, path: string, count: number): Promise<void> => {
  const { hostname, port, host } = new URL(origin);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => undefined).resume();
  socket.write(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\n\r\n`.repeat(count));
  // It ends with an error when it is closed while data is still on its way.
  await new Promise((resolve) => socket.once('close', resolve));
};
