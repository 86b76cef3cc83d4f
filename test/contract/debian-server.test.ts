import { expect, test } from '@jest/globals';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { findFreePort, isFreePort, missing } from '../support/servers/debian-server.ts';

const host = '127.0.0.1';

test.each([
  ['datagrams', (port: number) => createSocket('udp4').bind(port, host)],
  ['connections', (port: number) => createServer().listen(port, host)],
])('a port that takes %s counts as used', async (_, listen) => {
  const port = await findFreePort();
  const server = listen(port);
  await once(server, 'listening');
  expect(await isFreePort(port)).toBe(false);
  server.close();
  await once(server, 'close');
  expect(await isFreePort(port)).toBe(true);
});

test.each([
  ['mariadbd', ['mariadb-server-core'], 'mariadb-server-core, or set TEST_MYSQL_URL to'],
  ['redis-server', ['redis-server'], 'redis-server, or set TEST_REDIS_URL to'],
  ['pebble', ['pebble'], 'pebble, or put pebble into PATH: https://github.com/letsencrypt/pebble'],
  ['wrk', ['libone1|libone2'], 'libone1, or put wrk into PATH.'],
])('the advice about a missing %s mentions nothing else', (name, packages, advice) => {
  expect(missing(name, packages)).toContain(`${name} is missing`);
  expect(missing(name, packages)).toContain(`Install the package ${advice}`);
});
