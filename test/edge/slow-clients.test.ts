import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { closed, requestIn } from '../support/http/edge-client.ts';
import { countOwnTime } from '../support/own-time.ts';
import { startEdge, type RunningEdge } from '../support/http/running-edge.ts';

const large = new Uint8Array(20_000_000);

let edge: RunningEdge;
let stopping: RunningEdge;
beforeAll(async () => {
  edge = await startEdge();
  stopping = await startEdge();
  await edge.publish('rex.test', { 'index.html': 'Rex' });
  await stopping.publish('rex.test', { 'index.html': 'Rex', 'large.bin': large });
});
afterAll(async () => {
  await edge.close();
  await stopping.close();
});

type Open = () => Promise<Socket>;

/** How long a connection lives, while one more byte of `sent` goes out now and then. */
const lifeOf = async (open: Open, sent = ''): Promise<Life> => {
  const life = startLife();
  const socket = await open();
  const left = [...sent];
  const dribble = setInterval(() => socket.write(left.shift() ?? ''), 300);
  socket.resume();
  await closed(socket);
  clearInterval(dribble);
  return life();
};

interface Life {
  readonly ms: number;
  readonly ownMs: number;
}

const startLife = (): (() => Life) => {
  const started = performance.now();
  const ownTime = countOwnTime();
  return () => ({ ms: performance.now() - started, ownMs: ownTime() });
};

/** Nobody is cut early, however late this process is; and nobody late, in the time that this process had. */
const between =
  (from: number, to: number) =>
  ({ ms, ownMs }: Life) =>
    expect([ms > from, ownMs < to, ms, ownMs]).toEqual([true, true, ms, ownMs]);
const afterHeaders = between(4500, 7500);
const afterRequest = between(9500, 15_000);

const openTo = async (port: number): Promise<Socket> => {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  return socket;
};

const head = 'GET / HTTP/1.1\r\nHost: rex.test\r\nX: ';
const endless = head + 'x'.repeat(1000);
const endlessHello = '\x16\x03\x01\x02\x00\x01'.repeat(50);

/** One test, so that all of them wait at once. */
test('slow and silent clients are disconnected in time, while others are served', async () => {
  const { http, https } = edge.ports;
  const secure: Open = () => edge.connect('rex.test');
  const withoutBody: Open = async () => {
    const socket = await edge.connect('rex.test');
    socket.write('GET / HTTP/1.1\r\nHost: rex.test\r\nContent-Length: 1000\r\n\r\n');
    return socket;
  };
  const download = await stopping.connect('rex.test');
  download.write('GET /large.bin HTTP/1.1\r\nHost: rex.test\r\n\r\n');
  await once(download, 'readable');

  const slow = Promise.all([
    lifeOf(() => openTo(http)).then(afterHeaders),
    lifeOf(() => openTo(http), endless).then(afterHeaders),
    lifeOf(secure).then(afterHeaders),
    lifeOf(secure, endless).then(afterHeaders),
    lifeOf(() => openTo(https)).then(afterRequest),
    lifeOf(() => openTo(https), endlessHello).then(afterRequest),
    lifeOf(withoutBody).then(afterRequest),
  ]);
  const cut = closed(download);
  const life = startLife();
  const stopped = stopping.server.stop().then(life);

  const session = await edge.session('rex.test');
  expect((await requestIn(session, '/')).status).toBe(200);
  expect((await edge.get('rex.test', '/')).status).toBe(200);

  between(4500, 7500)(await stopped);
  download.resume();
  await cut;
  expect(download.bytesRead).toBeLessThan(large.length);
  await slow;

  expect((await requestIn(session, '/')).status).toBe(200);
  session.close();
});
