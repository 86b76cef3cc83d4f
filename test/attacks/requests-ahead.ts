import { connect } from 'node:net';

/** Sends so many requests over one connection that wait for no answer, and waits until the service ends it. */
export const sendAhead = async (origin: string, path: string, count: number): Promise<void> => {
  const { hostname, port, host } = new URL(origin);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => undefined).resume();
  socket.write(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\n\r\n`.repeat(count));
  // It ends with an error where it was cut while more was on its way.
  await new Promise((resolve) => socket.once('close', resolve));
};
