import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { afterEach, expect, test } from '@jest/globals';
import { HttpServer, type Handler } from '../../src/adapters/http/listener/http-server.ts';
import { mostAhead } from '../../src/kernel/connections.ts';
import { exchangeBytes } from '../support/http/raw-answer.ts';
import { until } from '../support/until.ts';

let server: HttpServer;
const sockets: Socket[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await server.stop();
});

const listen = (handle: Handler): Promise<number> => {
  server = new HttpServer(handle);
  return server.listen('127.0.0.1', 0);
};

const get = (path: string, ...more: string[]): string =>
  [`GET ${path} HTTP/1.1`, 'Host: x', ...more, '', ''].join('\r\n');

const sendTo = async (port: number, bytes: string): Promise<Socket> => {
  const socket = connect(port, '127.0.0.1');
  sockets.push(socket);
  socket.on('error', () => undefined).resume();
  await once(socket, 'connect');
  socket.write(bytes);
  return socket;
};

test('requests that come in one packet are handled one after the other, and answered in order', async () => {
  const steps: string[] = [];
  const port = await listen(({ url = '' }, response) => {
    steps.push(`begun ${url}`);
    setImmediate(() => {
      steps.push(`answered ${url}`);
      response.end(url);
    });
  });
  const answers = await exchangeBytes(
    `http://127.0.0.1:${port}`,
    get('/1') + get('/2') + get('/3', 'Connection: close'),
  );
  expect(answers.match(/^\/\d/gm)).toEqual(['/1', '/2', '/3']);
  expect(steps).toEqual(['/1', '/2', '/3'].flatMap((url) => [`begun ${url}`, `answered ${url}`]));
});

test('requests of other connections get their turn in between', async () => {
  const seen: string[] = [];
  const port = await listen(({ url = '' }, response) => {
    seen.push(url);
    // The next of this packet could begin at once: the answer is out.
    if (url === '/first') setImmediate(() => seen.push('another'));
    response.end();
  });
  await sendTo(port, get('/first') + get('/second'));
  await until('both are answered', () => Promise.resolve(seen.includes('/second')));
  expect(seen).toEqual(['/first', 'another', '/second']);
});

test('a connection with too many pipelined requests is ended, and the others continue', async () => {
  const held: ServerResponse[] = [];
  const port = await listen((_, response) => void held.push(response));
  const patient = await sendTo(port, get('/').repeat(mostAhead + 1));
  const greedy = await sendTo(port, get('/').repeat(mostAhead + 2));
  await until('it ended', () => Promise.resolve(greedy.destroyed));
  expect(held).toHaveLength(2);
  expect(patient.destroyed).toBe(false);
});

test('when a connection breaks, its waiting requests are dropped', async () => {
  const held: ServerResponse[] = [];
  const port = await listen((_, response) => void held.push(response));
  const socket = await sendTo(port, get('/').repeat(5));
  await until('the first is under way', () => Promise.resolve(held.length === 1));
  const [first] = held;
  socket.destroy();
  await once(first!, 'close');
  await new Promise(setImmediate);
  expect(held).toHaveLength(1);
});
