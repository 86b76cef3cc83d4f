import { once } from 'node:events';
import { createSecureServer } from 'node:http2';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { Agent } from 'node:https';
import { buffer } from 'node:stream/consumers';
import pino from 'pino';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { ChallengeAnswers } from '../../src/adapters/edge/edge-handler.ts';
import { drainEdge } from '../../src/adapters/edge/drain-edge.ts';
import { EdgeServer } from '../../src/adapters/edge/edge-server.ts';
import { EdgeConnection } from '../../src/adapters/edge/edge-connections.ts';
import { SiteCache } from '../../src/adapters/edge/site-cache.ts';
import { RouteTable } from '../../src/adapters/edge/route-table.ts';
import { closed, requestIn } from '../support/http/edge-client.ts';
import { isRefused } from '../support/http/raw-request.ts';
import { startEdge, type RunningEdge } from '../support/http/running-edge.ts';
import { until } from '../support/until.ts';
import { NetworkUsages } from '../../src/adapters/edge/edge-limits.ts';

const log = pino({ level: 'silent' });
const challenges = new ChallengeAnswers(() => Promise.resolve(undefined), log);
const networkOf = (address: string) => address;

/** Time that advances only when a test says so, so that a slow machine closes no connection early. */
const clock = {
  now: 0,
  asked: 0,
  elapsed: (): number => {
    clock.asked += 1;
    return clock.now;
  },
};
const graceMs = 500;

let edge: RunningEdge;
beforeEach(async () => {
  clock.now = 0;
  edge = await startEdge({ settings: { now: clock.elapsed } });
  await edge.publish('rex.test', { 'index.html': 'Rex' });
});
afterEach(() => edge.close());

test('stopping ends idle connections at once', async () => {
  const agent = new Agent({ keepAlive: true });
  await edge.get('rex.test', '/', { agent });
  const session = await edge.session('rex.test');
  await requestIn(session, '/');
  const idle = Object.values(agent.freeSockets).flat();
  const silent = [await edge.connect('rex.test')];
  const raw = [edge.ports.http, edge.ports.https].map((port) => connect(port, '127.0.0.1'));
  await Promise.all(raw.map((socket) => once(socket, 'connect')));
  const all = [...idle, ...silent, ...raw];
  for (const socket of all) socket!.resume();
  const ends = Promise.all([...all.map((one) => closed(one!)), closed(session)]);
  const stopped = edge.server.stop();
  for (const port of [edge.ports.http, edge.ports.https]) {
    await until('new connections are refused', () => isRefused(port));
  }
  clock.now = graceMs;
  await stopped;
  await ends;
  await until('none is counted', () => edge.server.state().connections === 0);
  agent.destroy();
});

test('stopping finishes requests under way, over HTTP/1.1 and HTTP/2, and accepts no new ones', async () => {
  const [large, larger] = [new Uint8Array(1_000_000), new Uint8Array(12_000_000)];
  await edge.publish('rex.test', { 'index.html': 'Rex', 'large.bin': large, 'larger.bin': larger });
  const socket = await edge.connect('rex.test');
  socket.write('GET /larger.bin HTTP/1.1\r\nHost: rex.test\r\n\r\n');
  const session = await edge.session('rex.test');
  const stream = session.request({ ':path': '/large.bin' });
  await Promise.all([once(socket, 'readable'), once(stream, 'response')]);
  let stopped = false;
  const stop = edge.server.stop().then(() => (stopped = true));
  for (const port of [edge.ports.http, edge.ports.https]) {
    await until('new connections are refused', () => isRefused(port));
  }
  expect(stopped).toBe(false);
  clock.now = graceMs;
  const [overHttp1, overHttp2] = await Promise.all([buffer(socket), buffer(stream)]);
  expect(overHttp1.subarray(-larger.length).equals(larger)).toBe(true);
  expect(overHttp2.equals(large)).toBe(true);
  await stop;
});

test('an edge that stops cuts off downloads after 5 seconds, and not earlier', async () => {
  const large = new Uint8Array(20_000_000);
  await edge.publish('rex.test', { 'index.html': 'Rex', 'large.bin': large });
  const download = await edge.connect('rex.test');
  download.write('GET /large.bin HTTP/1.1\r\nHost: rex.test\r\n\r\n');
  await once(download, 'readable');
  const stopped = edge.server.stop();
  await until('new connections are refused', () => isRefused(edge.ports.https));
  clock.now = 4_999;
  const { asked } = clock;
  await until('it has looked', () => clock.asked > asked + 3);
  expect(edge.server.state().connections).toBe(1);
  clock.now = 5_000;
  await stopped;
  const cut = closed(download);
  download.resume();
  await cut;
  expect(download.bytesRead).toBeLessThan(large.length);
});

test('an edge that stops sends a complete answer to a client that reads slowly', async () => {
  const large = Buffer.alloc(12_000_000);
  const { chain: cert, privateKey: key } = await edge.issue('rex.test');
  const server = createSecureServer({ cert, key, allowHTTP1: true }, (_, response) => {
    response.end(large);
  });
  const { elapsed } = clock;
  const connections: EdgeConnection[] = [];
  server.prependListener('connection', (socket: Socket) => {
    connections.push(new EdgeConnection(socket, new NetworkUsages().joined(''), { now: 0 }));
  });
  server.on('secureConnection', (socket: Socket) => void (connections.at(-1)!.secure = socket));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const client = await edge.connect('rex.test', { port });
  client.write('GET / HTTP/1.1\r\nHost: rex.test\r\n\r\n');
  await once(client, 'readable');
  const accepted = () => connections.length;
  const ended = drainEdge({
    servers: [server],
    connections,
    accepted,
    elapsed,
    isReplaced: undefined,
  });
  await until('new connections are refused', () => isRefused(port));
  clock.now = graceMs;
  const answer = await buffer(client);
  expect(answer.subarray(-large.length).equals(large)).toBe(true);
  await ended;
});

test('an edge that stops answers a request that arrives while idle connections are being closed', async () => {
  let arrives = () => 0;
  const other = await startEdge({ settings: { now: () => arrives() } });
  const client = connect(other.ports.http, '127.0.0.1').setEncoding('utf8');
  await once(client, 'connect');
  const stopped = other.server.stop();
  await until('new connections are refused', () => isRefused(other.ports.http));
  const answered = once(client, 'data');
  arrives = () => {
    if (client.bytesWritten === 0) client.write('GET / HTTP/1.1\r\nHost: rex.test\r\n\r\n');
    return 4_000;
  };
  expect(String(await answered)).toMatch(/^HTTP\/1\.1 \d/);
  await stopped;
  await other.close();
});

test('an edge that will stop closes each connection with its next answer, and still accepts new ones', async () => {
  const agent = new Agent({ keepAlive: true });
  const before = await edge.get('rex.test', '/', { agent });
  edge.server.announceEnd();
  const after = [
    await edge.get('rex.test', '/', { agent }),
    await edge.get('rex.test', '/', { agent }),
  ];
  const connections = [before, ...after].map(({ headers }) => headers['connection']);
  expect(connections).toEqual(['keep-alive', 'close', 'close']);
  agent.destroy();
});

test('an edge that is being replaced answers once more on each open connection, and announces the close', async () => {
  const agents = Array.from({ length: 30 }, () => new Agent({ keepAlive: true }));
  for (const agent of agents) await edge.get('rex.test', '/', { agent });
  const session = await edge.session('rex.test');
  const told = once(session, 'goaway') as Promise<[code: number, lastStream: number]>;
  const stop = edge.server.stop(new AbortController().signal);
  for (const port of [edge.ports.http, edge.ports.https]) {
    await until('new connections are refused', () => isRefused(port));
  }
  // Sends them one after the other, so that some connections are idle for a while.
  for (const agent of agents) {
    const { status, headers } = await edge.get('rex.test', '/', { agent });
    expect([status, headers['connection']]).toEqual([200, 'close']);
    agent.destroy();
  }
  expect((await told).slice(0, 2)).toEqual([0, 2 ** 31 - 1]);
  clock.now = graceMs;
  await closed(session);
  await stop;
});

describe('an edge that is being replaced, once the whole service stops', () => {
  const beginStop = async () => {
    const hurry = new AbortController();
    const stopped = edge.server.stop(hurry.signal);
    await until('new connections are refused', () => isRefused(edge.ports.https));
    clock.now = 7_000;
    return { hurry, stopped };
  };

  test('closes idle connections at once', async () => {
    const agent = new Agent({ keepAlive: true });
    await edge.get('rex.test', '/', { agent });
    const { hurry, stopped } = await beginStop();
    const { asked } = clock;
    hurry.abort();
    clock.now += graceMs;
    await stopped;
    // Node itself would close it after 15 seconds, in which the edge looks several hundred times.
    expect(clock.asked - asked).toBeLessThan(100);
    agent.destroy();
  });

  test('cuts off downloads 5 seconds later', async () => {
    await edge.publish('rex.test', { 'large.bin': new Uint8Array(12_000_000) });
    const download = await edge.connect('rex.test');
    download.write('GET /large.bin HTTP/1.1\r\nHost: rex.test\r\n\r\n');
    await once(download, 'readable');
    const { hurry, stopped } = await beginStop();
    hurry.abort();
    const { asked } = clock;
    await until('it has looked', () => clock.asked > asked + 3);
    clock.now = 11_999;
    await until('it has looked again', () => clock.asked > asked + 6);
    expect(edge.server.state().connections).toBe(1);
    clock.now = 12_000;
    await stopped;
    download.destroy();
  });
});

test('stopping twice, or before anything listens, is not an error', async () => {
  await edge.server.stop();
  await edge.server.stop();
  const { routes } = edge;
  const cache = new SiteCache(edge.files);
  await new EdgeServer({ routes, cache, challenges, networkOf, log }).stop();
});

test('an edge that cannot open both ports opens neither', async () => {
  const routes = new RouteTable(edge.records, { host: 'sites.test' }, log);
  const cache = new SiteCache(edge.files);
  const second = new EdgeServer({ routes, cache, challenges, networkOf, log });
  const ports = { host: '127.0.0.1', httpPort: 0, httpsPort: edge.ports.https };
  await expect(second.listen(ports)).rejects.toHaveProperty('code', 'EADDRINUSE');
});

test('an edge that cannot load its routes does not start', async () => {
  edge.records.isAway = true;
  const routes = new RouteTable(edge.records, { host: 'sites.test' }, log);
  const cache = new SiteCache(edge.files);
  const second = new EdgeServer({ routes, cache, challenges, networkOf, log });
  const ports = { host: '127.0.0.1', httpPort: 0, httpsPort: 0 };
  await expect(second.listen(ports)).rejects.toThrow('The test cannot be reached');
  edge.records.isAway = false;
});
