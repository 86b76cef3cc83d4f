import { once } from 'node:events';
import { constants, type ClientHttp2Session, type ClientHttp2Stream } from 'node:http2';
import type { TLSSocket } from 'node:tls';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { closed, requestIn, type SessionOptions } from '../support/http/edge-client.ts';
import { openPaths } from '../support/sites/direct-unpacking.ts';
import { startEdge, type RunningEdge } from '../support/http/running-edge.ts';
import { until } from '../support/until.ts';

const large = Buffer.from(Uint32Array.from({ length: 1_000_000 }, (_, at) => at * 40_503).buffer);
/** More than the buffers of two systems hold. */
const huge = Buffer.alloc(40_000_000, large);
const page = large.subarray(0, 20_000);
const seconds = 1_000;
const takesNothing: SessionOptions = { settings: { initialWindowSize: 0 } };
const elsewhere = { localAddress: '127.0.0.2' };

let edge: RunningEdge;
let now: number;
beforeEach(async () => {
  now = 5_000;
  edge = await startWith();
});
afterEach(() => edge.close());

const startWith = async (settings: Parameters<typeof startEdge>[0] = {}) => {
  const clock = () => now;
  const limits = settings.settings?.limits ?? {};
  const started = await startEdge({
    ...settings,
    settings: { limits, now: clock },
  });
  await started.publish('rex.test', { 'index.html': page, 'large.bin': large });
  return started;
};

const restartWith = async (settings: Parameters<typeof startEdge>[0]): Promise<void> => {
  await edge.close();
  edge = await startWith(settings);
};

const pass = (milliseconds: number): void => {
  now += milliseconds;
  edge.server.look();
};

const ask = (session: ClientHttp2Session, path: string): ClientHttp2Stream =>
  session.request({ ':path': path }).on('error', () => undefined);

const openDeployFiles = async (): Promise<number> =>
  (await openPaths()).filter((path) => path.startsWith(edge.folder)).length;

const nothingIsHeld = () =>
  until('nothing is held any more', () => {
    const { answers, heldBytes } = edge.server.state();
    return answers === 0 && heldBytes === 0;
  });

describe('HTTP/2 visitors who read nothing', () => {
  test('use few files and little memory, affect no one else, and are disconnected', async () => {
    const opening = Array.from({ length: 24 }, () => edge.session('rex.test', takesNothing));
    const sessions = await Promise.all(opening);
    const streams = sessions.flatMap((session) =>
      Array.from({ length: 60 }, () => ask(session, '/large.bin')),
    );
    const answered = streams.map((stream) =>
      Promise.race([once(stream, 'response'), closed(stream)]),
    );
    await Promise.all(answered);
    expect(edge.server.state().answers).toBeLessThanOrEqual(1_000);
    expect(edge.server.state().heldBytes).toBeLessThanOrEqual(32 * 1024 * 1024);
    expect(edge.server.state().refusedRequests).toBeGreaterThan(0);
    expect(await openDeployFiles()).toBeLessThanOrEqual(128);

    const other = await edge.session('rex.test', elsewhere);
    expect((await requestIn(other, '/large.bin')).body.equals(large)).toBe(true);
    other.close();

    pass(20 * seconds);
    await nothingIsHeld();
    await until('all streams are closed', () => streams.every((stream) => stream.closed));
    await until('no file is open', async () => (await openDeployFiles()) === 0);
    const again = await edge.session('rex.test');
    expect((await requestIn(again, '/')).status).toBe(200);
    for (const session of [...sessions, again]) session.destroy();
  });

  test('lose a stream after 20 seconds, while another stream of that connection continues', async () => {
    const session = await edge.session('rex.test', takesNothing);
    const stalled = ask(session, '/large.bin');
    await once(stalled, 'response');
    pass(19 * seconds);
    const later = ask(session, '/large.bin');
    await once(later, 'response');
    expect([stalled.closed, later.closed]).toEqual([false, false]);
    pass(1 * seconds);
    await closed(stalled);
    expect(stalled.rstCode).toBe(constants.NGHTTP2_CANCEL);
    expect(later.closed).toBe(false);
    expect(edge.server.state()).toMatchObject({ answers: 1, stalled: 1 });
    session.destroy();
    await nothingIsHeld();
  });

  test.each([
    ['a file', '/large.bin'],
    ['a page from memory', '/'],
    ['a refusal', '/nothing'],
  ])('lose their answer, even when it is %s', async (_, path) => {
    const session = await edge.session('rex.test', takesNothing);
    const stream = ask(session, path);
    await once(stream, 'response');
    pass(20 * seconds);
    await closed(stream);
    await nothingIsHeld();
    session.destroy();
  });

  test.each([
    ['without requests', []],
    ['with an unread answer', ['/large.bin']],
  ])('lose a connection after 60 seconds %s, even if they send PINGs', async (_, paths) => {
    const session = await edge.session('rex.test', takesNothing);
    for (const path of paths) await once(ask(session, path), 'response');
    const ends = closed(session);
    for (let waited = 0; waited < 58; waited += 2) {
      await new Promise((resolve) => session.ping(resolve));
      pass(2 * seconds);
    }
    expect(session.closed).toBe(false);
    pass(3 * seconds);
    pass(5 * seconds);
    await ends;
    await until('no connection is open', () => edge.server.state().connections === 0);
  });

  test('are disconnected to make room for others, the longest stalled first', async () => {
    await restartWith({ settings: { limits: { answers: 10 } } });
    const session = await edge.session('rex.test', takesNothing);
    const streams = Array.from({ length: 10 }, () => ask(session, '/large.bin'));
    await Promise.all(streams.map((stream) => once(stream, 'response')));
    const other = await edge.session('rex.test', elsewhere);
    await expect(requestIn(other, '/')).rejects.toThrow('NGHTTP2_REFUSED_STREAM');
    pass(3 * seconds);
    expect((await requestIn(other, '/large.bin')).body.equals(large)).toBe(true);
    expect(edge.server.state().stalled).toBeGreaterThan(0);
    for (const one of [session, other]) one.destroy();
    await nothingIsHeld();
  });

  test('are answered with 503 over HTTP/1.1 when their address holds too much', async () => {
    await restartWith({ settings: { limits: { answersOfNetwork: 3 } } });
    const session = await edge.session('rex.test', takesNothing);
    for (let count = 0; count < 3; count++) await once(ask(session, '/large.bin'), 'response');
    const refused = await edge.get('rex.test', '/');
    expect([refused.status, refused.headers['retry-after']]).toEqual([503, '1']);
    session.destroy();
    await nothingIsHeld();
    expect((await edge.get('rex.test', '/')).status).toBe(200);
  });

  test('hold no more bytes than the limit for their address', async () => {
    await restartWith({ settings: { limits: { bytesOfNetwork: 256 * 1024 } } });
    const session = await edge.session('rex.test', takesNothing);
    const streams = Array.from({ length: 20 }, () => ask(session, '/large.bin'));
    const ends = streams.map((stream) => Promise.race([once(stream, 'response'), closed(stream)]));
    await Promise.all(ends);
    expect(edge.server.state()).toMatchObject({ answers: 4, heldBytes: 256 * 1024 });
    session.destroy();
    await nothingIsHeld();
  });
});

describe('a visitor of HTTP/1.1', () => {
  beforeEach(() => edge.publish('huge.test', { 'index.html': page, 'huge.bin': huge }));

  const open = async (...requests: readonly string[]): Promise<TLSSocket> => {
    const socket = await edge.connect('huge.test');
    for (const path of requests) {
      socket.write(`GET ${path} HTTP/1.1\r\nHost: huge.test\r\n\r\n`);
    }
    return socket;
  };
  const filled = async (): Promise<void> => {
    await until('it is read', () => edge.files.bytesRead > 0);
    await until('it is not read on', async () => {
      const read = edge.files.bytesRead;
      for (let round = 0; round < 20; round++) await edge.get('rex.test', '/');
      return edge.files.bytesRead === read;
    });
  };

  test('who reads nothing is disconnected after 20 seconds, even after sending more requests', async () => {
    const socket = await open('/huge.bin');
    await filled();
    pass(1 * seconds);
    pass(19 * seconds);
    expect(edge.server.state().answers).toBe(1);
    socket.write('GET / HTTP/1.1\r\nHost: huge.test\r\n\r\n');
    pass(1 * seconds);
    await nothingIsHeld();
    await until('the connection is cut', () => edge.server.state().connections === 0);
    await until('no file is open', async () => (await openDeployFiles()) === 0);
    socket.destroy();
  });

  test('gets pipelined requests answered one after the other, at most 100', async () => {
    const socket = await open(...Array.from({ length: 1_000 }, () => '/huge.bin'));
    await filled();
    const { answers, heldBytes } = edge.server.state();
    expect(answers).toBeLessThanOrEqual(100);
    expect(heldBytes).toBeLessThanOrEqual(100 * 64 * 1024);
    expect(await openDeployFiles()).toBeLessThanOrEqual(128);
    pass(1 * seconds);
    pass(20 * seconds);
    await nothingIsHeld();
    socket.destroy();
  });

  test('who reads slowly gets the whole file', async () => {
    const socket = await open('/huge.bin');
    let received = 0;
    socket.on('data', ({ length }: Buffer) => (received += length));
    for (let wanted = 0; wanted < huge.length; wanted += 3_000_000) {
      socket.resume();
      await until('some of it came', () => received >= Math.min(wanted, huge.length));
      socket.pause();
      pass(9 * seconds);
    }
    socket.resume();
    await until('all of it came', () => received > huge.length);
    socket.destroy();
    expect(edge.server.state().stalled).toBe(0);
  });
});

test('an HTTP/2 visitor who reads a little now and then gets the whole file', async () => {
  const window = 1_000;
  const session = await edge.session('rex.test', { settings: { initialWindowSize: window } });
  for (const path of ['/', '/large.bin']) {
    const stream = ask(session, path);
    let received = 0;
    let taken = 0;
    stream.on('data', ({ length }: Buffer) => (received += length));
    for (; taken < page.length; taken = received) {
      stream.resume();
      const wanted = Math.min(taken + 2 * window, page.length);
      await until('some of it came', () => received >= wanted);
      stream.pause();
      pass(15 * seconds);
      expect(stream.closed && received < page.length).toBe(false);
    }
    stream.close();
  }
  expect(edge.server.state().stalled).toBe(0);
  session.destroy();
});
