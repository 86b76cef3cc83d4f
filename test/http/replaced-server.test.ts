import { once } from 'node:events';
import { Agent, get, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { describe, expect, test } from '@jest/globals';
import { HttpServer } from '../../src/adapters/http/listener/http-server.ts';
import { until } from '../support/until.ts';

const connections = 30;

const isRefused = async (port: number): Promise<boolean> => {
  const socket = connect(port, '127.0.0.1');
  const outcome = await once(socket, 'connect').catch((error: unknown) => error);
  socket.destroy();
  return (outcome as NodeJS.ErrnoException).code === 'ECONNREFUSED';
};

test('a server that others replace answers once more on each open connection, and says that it is the last time', async () => {
  const server = new HttpServer((_, response) => {
    response.writeHead(200, ['Content-Type', 'text/plain']);
    response.end('ok');
  });
  const port = await server.listen('127.0.0.1', 0);
  const ask = async (agent: Agent): Promise<string | undefined> => {
    const asked = get({ host: '127.0.0.1', port, agent });
    const [answer] = (await once(asked, 'response')) as [IncomingMessage];
    await once(answer.resume(), 'end');
    return answer.headers.connection;
  };
  const agents = Array.from({ length: connections }, () => new Agent({ keepAlive: true }));
  for (const agent of agents) expect(await ask(agent)).toBe('keep-alive');
  const stopped = server.stop(new AbortController().signal);
  await until('new connections are refused', () => isRefused(port));
  // One after the other, so that some connections are idle for a while.
  for (const agent of agents) {
    expect(await ask(agent)).toBe('close');
    agent.destroy();
  }
  await stopped;
});

test('a stopping server answers a request that arrives while it looks for silent connections', async () => {
  let arrives = () => 0;
  const server = new HttpServer((_, response) => response.end('ok'), { elapsed: () => arrives() });
  const port = await server.listen('127.0.0.1', 0);
  const client = connect(port, '127.0.0.1').setEncoding('utf8');
  await once(client, 'connect');
  const stopped = server.stop();
  await until('new connections are refused', () => isRefused(port));
  const answered = once(client, 'data');
  arrives = () => {
    if (client.bytesWritten === 0) client.write('GET / HTTP/1.1\r\nHost: rex.test\r\n\r\n');
    return 4_000;
  };
  expect(String(await answered)).toMatch(/^HTTP\/1\.1 200/);
  await stopped;
});

test('a stopping server sends all of an answer to a client that reads it slowly', async () => {
  const large = Buffer.alloc(12_000_000);
  const server = new HttpServer((_, response) => response.end(large));
  const port = await server.listen('127.0.0.1', 0);
  const client = connect(port, '127.0.0.1');
  client.write('GET / HTTP/1.1\r\nHost: rex.test\r\n\r\n');
  await once(client, 'readable');
  const stopped = server.stop();
  await until('new connections are refused', () => isRefused(port));
  const answer = await buffer(client);
  expect(answer.subarray(-large.length).equals(large)).toBe(true);
  await stopped;
});

describe('a server with an upload under way and an idle connection', () => {
  /** Its clock stands still until the test moves it. */
  const begin = async (hurry?: AbortController) => {
    const clock = { now: 0 };
    const server = new HttpServer(
      (request, response) => {
        if (request.method === 'POST') return;
        response.writeHead(200, ['Content-Type', 'text/plain']);
        response.end('ok');
      },
      { isUpload: () => true, elapsed: () => clock.now },
    );
    const port = await server.listen('127.0.0.1', 0);
    const idle = connect(port, '127.0.0.1').resume();
    idle.write('GET / HTTP/1.1\r\nHost: rex.test\r\n\r\n');
    await once(idle, 'data');
    const upload = connect(port, '127.0.0.1').resume();
    upload.write('POST / HTTP/1.1\r\nHost: rex.test\r\nContent-Length: 10\r\n\r\nhalf');
    upload.on('error', () => undefined);
    await until('the upload has begun', () => upload.bytesWritten > 0);
    const stopped = server.stop(hurry?.signal);
    await until('new connections are refused', () => isRefused(port));
    const closed = (socket: typeof idle) => once(socket, 'close');
    return { clock, stopped, idle, upload, closed };
  };

  test('cuts the upload after a minute when others replace it, so that it can still report what it counted', async () => {
    const { clock, stopped, idle, upload, closed } = await begin(new AbortController());
    const isIdleClosed = closed(idle);
    clock.now = 59_999;
    await isIdleClosed;
    expect(upload.destroyed).toBe(false);
    const isCut = closed(upload);
    clock.now = 60_000;
    await Promise.all([isCut, stopped]);
  });

  test('cuts the upload 5 seconds after it was stopped, so that the process ends in good order', async () => {
    const { clock, stopped, idle, upload, closed } = await begin();
    await until('the idle one is closed', () => idle.closed);
    expect(upload.destroyed).toBe(false);
    const isCut = closed(upload);
    clock.now = 5_000;
    await Promise.all([isCut, stopped]);
  });

  test('closes the idle one at once and cuts the upload after 5 seconds when others replace it and the whole service ends', async () => {
    const hurry = new AbortController();
    const { clock, stopped, idle, upload, closed } = await begin(hurry);
    clock.now = 9_000;
    const isIdleClosed = closed(idle);
    hurry.abort();
    await isIdleClosed;
    expect(upload.destroyed).toBe(false);
    const isCut = closed(upload);
    clock.now = 9_000 + 5_000;
    await Promise.all([isCut, stopped]);
  });
});
