import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { closed, requestIn } from '../support/edge-client.ts';
import { startEdge, type RunningEdge } from '../support/running-edge.ts';

const large = new Uint8Array(20_000_000);

let edge: RunningEdge;
let stopping: RunningEdge;
beforeAll(async () => {
  edge = await startEdge();
  stopping = await startEdge({ storage: 'the file system' });
  await edge.publish('rex.test', { 'index.html': 'Rex' });
  await stopping.publish('rex.test', { 'index.html': 'Rex', 'large.bin': large });
});
afterAll(async () => {
  await edge.close();
  await stopping.close();
});

/** @returns seconds until the server ended the connection, during which one more byte of `sent` goes out now and then */
const lifeOf = async (socket: ReturnType<typeof connect>, sent = ''): Promise<number> => {
  const started = performance.now();
  const left = [...sent];
  const dribble = setInterval(() => socket.write(left.shift() ?? ''), 300);
  socket.resume();
  await closed(socket);
  clearInterval(dribble);
  return (performance.now() - started) / 1000;
};

const openTo = async (port: number) => {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  return socket;
};

const head = 'GET / HTTP/1.1\r\nHost: rex.test\r\nX: ';
const endless = head + 'x'.repeat(1000);

const within = (from: number, to: number) => (seconds: number) =>
  expect([seconds > from, seconds < to, seconds]).toEqual([true, true, seconds]);
const afterHeaders = within(4.5, 6.5);
const afterRequest = within(9.5, 11.5);

/** One test, so that all of them wait at once. */
test('who is slow or silent is cut in time, while others are served', async () => {
  const { http, https } = edge.ports;
  const asked = await edge.connect('rex.test');
  asked.write('GET / HTTP/1.1\r\nHost: rex.test\r\nContent-Length: 1000\r\n\r\n');
  const download = await stopping.connect('rex.test');
  download.write('GET /large.bin HTTP/1.1\r\nHost: rex.test\r\n\r\n');
  await once(download, 'readable');

  const slow = Promise.all([
    openTo(http).then(lifeOf).then(afterHeaders),
    openTo(http)
      .then((socket) => lifeOf(socket, endless))
      .then(afterHeaders),
    edge.connect('rex.test').then(lifeOf).then(afterHeaders),
    edge
      .connect('rex.test')
      .then((socket) => lifeOf(socket, endless))
      .then(afterHeaders),
    openTo(https).then(lifeOf).then(afterRequest),
    openTo(https)
      .then((socket) => lifeOf(socket, '\x16\x03\x01\x02\x00\x01'.repeat(50)))
      .then(afterRequest),
    lifeOf(asked).then(afterRequest),
  ]);
  const cut = closed(download);
  const started = performance.now();
  const stopped = stopping.server.stop().then(() => (performance.now() - started) / 1000);

  const session = await edge.session('rex.test');
  expect((await requestIn(session, '/')).status).toBe(200);
  expect((await edge.get('rex.test', '/')).status).toBe(200);

  within(4.5, 6)(await stopped);
  download.resume();
  await cut;
  expect(download.bytesRead).toBeLessThan(large.length);
  await slow;

  expect((await requestIn(session, '/')).status).toBe(200);
  session.close();
});
