import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { keepAliveMs } from '../../src/adapters/edge/edge-limits.ts';
import { ReadyAnswer } from '../../src/adapters/edge/site-cache.ts';
import { ServedFile } from '../../src/adapters/edge/served-file.ts';
import { rawRequest } from '../support/http/raw-request.ts';

const content = Buffer.from('<h1>Grüße\u0000</h1>');
const { identity: form } = new ServedFile({
  path: 'index.html',
  bytes: content.length,
  hash: 'hash',
  brotli: undefined,
  gzip: 200,
}).forms;

let server: Server;
let origin: string;
let ready: boolean[];
beforeAll(async () => {
  const answer = new ReadyAnswer(form!, content);
  server = createServer({ keepAliveTimeout: keepAliveMs }, (request, response) => {
    if (request.url === '/unlike') Object.assign(response, { _headerSent: undefined });
    const isReady = request.url !== '/node' && answer.end(response);
    ready.push(isReady);
    if (!isReady) response.writeHead(200, answer.headers as string[]).end(answer.content);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  origin = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
});
afterAll(() => {
  server.close();
});

/** Answers to pipelined requests on one connection, the last of which closes it. */
const answersTo = async (...paths: readonly string[]): Promise<readonly string[]> => {
  ready = [];
  const lines = paths.flatMap((path) => [`GET ${path} HTTP/1.1`, 'Host: rex.test', '']);
  const last = ['GET /node HTTP/1.1', 'Host: rex.test', 'Connection: close'];
  const received = await rawRequest(origin, [...lines, ...last]);
  return received
    .replaceAll(/^Date: \w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT\r$/gm, 'Date: now\r')
    .split(/(?=HTTP\/1\.1 )/);
};

describe('a file in memory', () => {
  test('is answered with the same bytes that Node would send, even to pipelined requests', async () => {
    const [node, one, two] = await answersTo('/node', '/', '/');
    expect(ready).toEqual([false, true, true, false]);
    expect(node).toMatch(/^Date: now\r\nConnection: keep-alive\r\nKeep-Alive: timeout=15\r\n\r\n/m);
    expect([one, two]).toEqual([node, node]);
  });

  test('gets its head from Node when the connection closes, or when Node lacks the internals that are used', async () => {
    const [node, unlike, last] = await answersTo('/node', '/unlike');
    expect(ready).toEqual([false, false, false]);
    expect(unlike).toBe(node);
    expect(last).toContain('\r\nConnection: close\r\n');
    for (const lines of [
      ['GET / HTTP/1.1', 'Host: rex.test', 'Connection: close'],
      ['GET / HTTP/1.0', 'Host: rex.test'],
    ]) {
      ready = [];
      expect(await rawRequest(origin, lines)).toContain('\r\nConnection: close\r\n');
      expect(ready).toEqual([false]);
    }
  });

  test.each([0, 999, 1000, 61_000])('has the current date, at %i ms', async (moment) => {
    const clock = jest.spyOn(Date, 'now').mockReturnValue(moment);
    try {
      ready = [];
      const lines = ['GET / HTTP/1.1', 'Host: rex.test', ''];
      const last = ['GET /node HTTP/1.1', 'Host: rex.test', 'Connection: close'];
      const received = await rawRequest(origin, [...lines, ...last]);
      const [, date = ''] = /^Date: (.*)\r$/m.exec(received) ?? [];
      expect(Date.parse(date)).toBe(moment - (moment % 1000));
    } finally {
      clock.mockRestore();
    }
  });
});
