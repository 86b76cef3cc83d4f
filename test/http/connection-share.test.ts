import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { connectionLimits, HttpServer } from '../../src/adapters/http/listener/http-server.ts';
import { startApi } from '../support/http/running-api.ts';
import { until } from '../support/until.ts';

const limits = { all: 5, ofNetwork: 3 };

let server: HttpServer;
let port: number;
const sockets: Socket[] = [];
beforeEach(async () => {
  server = new HttpServer((_request, response) => response.end('served'), { connections: limits });
  port = await server.listen('127.0.0.1', 0);
});
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await server.stop();
});

/** @returns the answer to one request, or undefined when the connection is cut; it stays open */
const askFrom = (localAddress: string): Promise<string | undefined> =>
  new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', localAddress });
    sockets.push(socket);
    // Who is cut may see a reset.
    socket.on('error', () => undefined);
    socket.once('close', () => {
      resolve(undefined);
    });
    socket.once('data', (bytes) => {
      resolve(String(bytes));
    });
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  });

test('one network gets a share of the connections, and the rest stays free for others', async () => {
  for (let n = 0; n < limits.ofNetwork; n++) expect(await askFrom('127.0.0.1')).toMatch(/served$/);
  expect(await askFrom('127.0.0.1')).toBeUndefined();
  for (let n = limits.ofNetwork; n < limits.all; n++) {
    expect(await askFrom('127.0.0.2')).toMatch(/served$/);
  }
  expect(await askFrom('127.0.0.3')).toBeUndefined();
});

test('a connection that ended makes room for the next one', async () => {
  for (let n = 0; n < limits.ofNetwork; n++) await askFrom('127.0.0.1');
  sockets[0]?.destroy();
  const answered = async () => (await askFrom('127.0.0.1')) !== undefined;
  await until('there is room again', answered);
});

test('the wired service cuts connections beyond the share of one network', async () => {
  const api = await startApi('sqlite');
  port = Number(new URL(api.origin).port);
  await until('the next one is cut', async () => {
    const more = Array.from({ length: 100 }, () => connect(port, '127.0.0.1'));
    sockets.push(...more);
    for (const socket of more) socket.on('error', () => undefined);
    await Promise.allSettled(more.map((socket) => once(socket, 'connect')));
    return (await askFrom('127.0.0.1')) === undefined;
  });
  expect(sockets.length).toBeLessThan(connectionLimits.all);
  for (const socket of sockets.splice(0)) socket.destroy();
  await api.close();
});
