import { expect, test } from '@jest/globals';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { findFreePort, isFreePort } from '../support/servers/debian-server.ts';

const host = '127.0.0.1';

test.each([
  ['datagrams', (port: number) => createSocket('udp4').bind(port, host)],
  ['connections', (port: number) => createServer().listen(port, host)],
])('a port that takes %s is not free', async (_, listen) => {
  const port = await findFreePort();
  const server = listen(port);
  await once(server, 'listening');
  expect(await isFreePort(port)).toBe(false);
  server.close();
  await once(server, 'close');
  expect(await isFreePort(port)).toBe(true);
});
