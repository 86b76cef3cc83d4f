import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { HttpServer } from '../../src/adapters/http/http-server.ts';
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
const askFrom = async (localAddress: string): Promise<string | undefined> => {
  const socket = connect({ port, host: '127.0.0.1', localAddress });
  sockets.push(socket);
  socket.on('error', () => undefined);
  const closed = once(socket, 'close').then(() => undefined);
  await once(socket, 'connect');
  socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  const answered = once(socket, 'data').then(([bytes]: Buffer[]) => String(bytes));
  return Promise.race([answered.catch(() => undefined), closed]);
};

test('one network has a share of the connections, and leaves the others theirs', async () => {
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
