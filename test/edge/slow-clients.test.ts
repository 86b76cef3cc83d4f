import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { visitorTimes } from '../../src/adapters/edge/edge-limits.ts';
import { requestIn } from '../support/http/edge-client.ts';
import { startEdge, type RunningEdge } from '../support/http/running-edge.ts';
import { until } from '../support/until.ts';

let edge: RunningEdge;
beforeAll(async () => {
  edge = await startEdge();
  await edge.publish('rex.test', { 'index.html': 'Rex' });
});
afterAll(() => edge.close());

type Open = () => Promise<Socket>;

/**
 * Sends a byte of `sent` now and then until the connection closes. @returns the status received before that
 */
const cutOf = async (what: string, open: Open, sent = ''): Promise<string | undefined> => {
  const socket = await open();
  const left = [...sent];
  let answer = '';
  socket.on('error', () => undefined).on('data', (bytes) => (answer += String(bytes)));
  await until(`${what} is cut`, () => {
    if (!socket.destroyed) socket.write(left.shift() ?? '');
    return socket.destroyed;
  });
  return answer.split(' ')[1];
};

const openTo = async (port: number): Promise<Socket> => {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  return socket;
};

const head = 'GET / HTTP/1.1\r\nHost: rex.test\r\nX: ';
const endless = head + 'x'.repeat(1000);
const endlessHello = '\x16\x03\x01\x02\x00\x01'.repeat(50);

test('a visitor has 10 seconds for the handshake, 5 for the headers and 10 for a whole request, and may be idle for 60', () => {
  const seconds = { handshake: 10, headers: 5, request: 10, silence: 60 };
  const times = Object.entries(seconds).map(([what, count]) => [`${what}Ms`, 1000 * count]);
  expect(visitorTimes).toEqual(Object.fromEntries(times));
});

/** One test, so that all clients wait at once. Node alone would give them a minute or more. */
test('slow and idle clients are disconnected, while others are served', async () => {
  const { http, https } = edge.ports;
  const secure: Open = () => edge.connect('rex.test');
  const withContent: Open = async () => {
    const socket = await edge.connect('rex.test');
    socket.write('GET / HTTP/1.1\r\nHost: rex.test\r\nContent-Length: 100000\r\n\r\n');
    return socket;
  };

  const slow = Promise.all([
    cutOf('silence', () => openTo(http)),
    cutOf('an endless head', () => openTo(http), endless),
    cutOf('silence after the handshake', secure),
    cutOf('an endless head after the handshake', secure, endless),
    cutOf('silence before the handshake', () => openTo(https)),
    cutOf('an endless handshake', () => openTo(https), endlessHello),
    cutOf('endless content', withContent, 'x'.repeat(10_000)),
  ]);

  const session = await edge.session('rex.test');
  expect((await requestIn(session, '/')).status).toBe(200);
  expect((await edge.get('rex.test', '/')).status).toBe(200);
  expect(await slow).toEqual(['408', '408', '408', '408', undefined, undefined, '200']);
  expect((await requestIn(session, '/')).status).toBe(200);
  session.close();
});
