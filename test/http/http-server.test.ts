import { once } from 'node:events';
import { Agent, get, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import {
  connectionLimits,
  type Handler,
  HttpServer,
} from '../../src/adapters/http/listener/http-server.ts';
import { mostAhead } from '../../src/kernel/incoming.ts';
import { closed, receivedBy } from '../support/http/edge-client.ts';
import { exchangeBytes, isRefused } from '../support/http/raw-request.ts';
import { until } from '../support/until.ts';
import { startApi } from '../support/http/running-api.ts';
import { buffer } from 'node:stream/consumers';

describe('pipelined requests', () => {
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

  test('that come in one packet are handled one after the other, and answered in order', async () => {
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

  test('of one connection are interleaved with requests of other connections', async () => {
    const seen: string[] = [];
    const port = await listen(({ url = '' }, response) => {
      seen.push(url);
      if (url === '/first') setImmediate(() => seen.push('another'));
      response.end();
    });
    await sendTo(port, get('/first') + get('/second'));
    await until('both are answered', () => Promise.resolve(seen.includes('/second')));
    expect(seen).toEqual(['/first', 'another', '/second']);
  });

  test('beyond the limit end their connection, and other connections continue', async () => {
    const held: ServerResponse[] = [];
    const port = await listen((_, response) => void held.push(response));
    const patient = await sendTo(port, get('/').repeat(mostAhead + 1));
    const greedy = await sendTo(port, get('/').repeat(mostAhead + 2));
    await until('it ended', () => Promise.resolve(greedy.destroyed));
    expect(held).toHaveLength(2);
    expect(patient.destroyed).toBe(false);
  });

  test('that wait are dropped when their connection breaks', async () => {
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
});

describe('a body in chunks of one byte', () => {
  let server: HttpServer;
  afterEach(() => server.stop());

  const head = ['POST / HTTP/1.1', 'Host: x', 'Transfer-Encoding: chunked', '', ''].join('\r\n');
  const next = ['GET / HTTP/1.1', 'Host: x', 'Connection: close', '', ''].join('\r\n');
  /** @returns the answers to a request with such a body and to the next one */
  const answersTo = async (chunks: number, handle: Handler): Promise<string> => {
    server = new HttpServer(handle);
    const socket = connect(await server.listen('127.0.0.1', 0), '127.0.0.1');
    socket.write(`${head}${'1\r\na\r\n'.repeat(chunks)}0\r\n\r\n${next}`);
    return String(await receivedBy(socket));
  };
  const reading: Handler = async (request, response) =>
    response.end(`read ${String((await buffer(request)).length)}`);
  const refusing: Handler = (_, response) => response.end();

  test('is read when it has some hundreds', async () => {
    expect(await answersTo(900, reading)).toMatch(/read 900HTTP.*read 0/s);
  });

  test.each([
    ['while it is read', reading],
    ['after it was refused', refusing],
  ])('ends its connection when it has thousands, %s', async (_, handle) => {
    expect(await answersTo(5000, handle)).not.toMatch(/HTTP.*HTTP/s);
  });
});

describe('open connections', () => {
  const limits = { all: 5, ofNetwork: 3 };

  let server: HttpServer;
  let port: number;
  const sockets: Socket[] = [];
  beforeEach(async () => {
    server = new HttpServer((_request, response) => response.end('served'), {
      connections: limits,
    });
    port = await server.listen('127.0.0.1', 0);
  });
  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy();
    await server.stop();
  });

  /**
   * @returns the answer to one request, or undefined if the connection is closed; the connection stays open
   */
  const askFrom = (localAddress: string): Promise<string | undefined> =>
    new Promise((resolve) => {
      const socket = connect({ port, host: '127.0.0.1', localAddress });
      sockets.push(socket);
      // A closed connection may appear as a reset.
      socket.on('error', () => undefined);
      socket.once('close', () => {
        resolve(undefined);
      });
      socket.once('data', (bytes) => {
        resolve(String(bytes));
      });
      socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    });

  test('of one network are limited, and the rest stays free for others', async () => {
    for (let n = 0; n < limits.ofNetwork; n++)
      expect(await askFrom('127.0.0.1')).toMatch(/served$/);
    expect(await askFrom('127.0.0.1')).toBeUndefined();
    for (let n = limits.ofNetwork; n < limits.all; n++) {
      expect(await askFrom('127.0.0.2')).toMatch(/served$/);
    }
    expect(await askFrom('127.0.0.3')).toBeUndefined();
  });

  test('that end make room for the next ones', async () => {
    for (let n = 0; n < limits.ofNetwork; n++) await askFrom('127.0.0.1');
    sockets[0]?.destroy();
    const answered = async () => (await askFrom('127.0.0.1')) !== undefined;
    await until('there is room again', answered);
  });

  test('of the assembled service are closed beyond the share of one network', async () => {
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
});

describe('a server that stops', () => {
  const connections = 30;

  test('answers once more on each open connection while it is being replaced, and announces the close', async () => {
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
    // Sends them one after the other, so that some connections are idle for a while.
    for (const agent of agents) {
      expect(await ask(agent)).toBe('close');
      agent.destroy();
    }
    await stopped;
  });

  test('answers a request that arrives while idle connections are being closed', async () => {
    let arrives = () => 0;
    const server = new HttpServer((_, response) => response.end('ok'), {
      elapsed: () => arrives(),
    });
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

  test('sends a complete answer to a client that reads slowly', async () => {
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
      return { clock, stopped, idle, upload };
    };

    test('cuts the upload after a minute if it is being replaced, so that it can still report its counts', async () => {
      const { clock, stopped, idle, upload } = await begin(new AbortController());
      const isIdleClosed = closed(idle);
      clock.now = 59_999;
      await isIdleClosed;
      expect(upload.destroyed).toBe(false);
      const isCut = closed(upload);
      clock.now = 60_000;
      await Promise.all([isCut, stopped]);
    });

    test('cuts the upload 5 seconds after the stop, so that the process ends cleanly', async () => {
      const { clock, stopped, idle, upload } = await begin();
      await until('the idle one is closed', () => idle.closed);
      expect(upload.destroyed).toBe(false);
      const isCut = closed(upload);
      clock.now = 5_000;
      await Promise.all([isCut, stopped]);
    });

    test('closes the idle connection at once and cuts the upload after 5 seconds if the whole service stops during a replacement', async () => {
      const hurry = new AbortController();
      const { clock, stopped, idle, upload } = await begin(hurry);
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
});
