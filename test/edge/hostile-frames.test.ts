import { once } from 'node:events';
import { constants, type ClientHttp2Session } from 'node:http2';
import type { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { closed, receivedBy, requestIn } from '../support/http/edge-client.ts';
import { startEdge, type RunningEdge } from '../support/http/running-edge.ts';
import { until } from '../support/until.ts';

/** HTTP/2 frames as bytes (RFC 9113, section 4.1), to send frames that no client would. */
const frameTypes = {
  headers: 1,
  priority: 2,
  reset: 3,
  settings: 4,
  ping: 6,
  windowUpdate: 8,
  continuation: 9,
} as const;

const flags = { acknowledged: 1, endStream: 1, endHeaders: 4 } as const;

interface Frame {
  readonly type: keyof typeof frameTypes;
  readonly flags?: number;
  readonly stream?: number;
  readonly payload?: Uint8Array;
}

const frame = ({ type, flags: set = 0, stream = 0, payload }: Frame): Buffer => {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload?.length ?? 0, 0, 3);
  head.writeUInt8(frameTypes[type], 3);
  head.writeUInt8(set, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload ?? new Uint8Array()]);
};

/** The beginning of every HTTP/2 connection. */
const preface = Buffer.concat([
  Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
  frame({ type: 'settings' }),
]);

/** Uncompressed headers of a request (RFC 7541, section 6.2.2). All are shorter than 127 bytes. */
const headerBlock = (headers: Readonly<Record<string, string>>): Buffer =>
  Buffer.concat(
    Object.entries(headers).flatMap(([name, value]) => [
      Buffer.from([0, name.length]),
      Buffer.from(name),
      Buffer.from([value.length]),
      Buffer.from(value),
    ]),
  );

/** The error codes of all received GOAWAY frames. */
const goAwayCodes = (received: Buffer): readonly number[] => {
  const codes: number[] = [];
  for (let at = 0; at + 9 <= received.length; at += 9 + received.readUIntBE(at, 3)) {
    const isGoAway = received.readUInt8(at + 3) === 7;
    if (isGoAway && at + 17 <= received.length) codes.push(received.readUInt32BE(at + 13));
  }
  return codes;
};

let edge: RunningEdge;
let now: number;
beforeEach(async () => {
  now = 0;
  edge = await startEdge({ settings: { now: () => now } });
  await edge.publish('rex.test', { 'index.html': 'Rex', 'large.bin': new Uint8Array(3_000_000) });
});
afterEach(() => edge.close());

const pass = (milliseconds: number): void => {
  now += milliseconds;
  edge.server.look();
};

const nothingIsHeld = () =>
  until('nothing is held any more', () => {
    const { answers, heldBytes } = edge.server.state();
    return answers === 0 && heldBytes === 0;
  });

const isServed = async () => expect((await edge.visit('HTTP/2', 'rex.test', '/')).status).toBe(200);

const request = headerBlock({
  ':method': 'GET',
  ':scheme': 'https',
  ':authority': 'rex.test',
  ':path': '/large.bin',
});
const opening = flags.endStream | flags.endHeaders;

/** Sends frames unchanged. @returns everything received until the edge ended the connection */
const send = async (frames: readonly Buffer[], after?: () => void): Promise<Buffer> => {
  const socket = await edge.connect('rex.test', { ALPNProtocols: ['h2'] });
  const came = receivedBy(socket);
  socket.write(Buffer.concat([preface, ...frames]));
  after?.();
  return came;
};

describe('an HTTP/2 connection is closed, and other connections are served, when it sends', () => {
  const { NGHTTP2_ENHANCE_YOUR_CALM: calm, NGHTTP2_PROTOCOL_ERROR: wrong } = constants;
  const many = (count: number, one: (stream: number) => Buffer): readonly Buffer[] =>
    Array.from({ length: count }, (_, at) => one(2 * at + 1));
  const eight = Buffer.alloc(8);

  test.each([
    ['PINGs', many(300, () => frame({ type: 'ping', payload: eight })), [calm]],
    ['SETTINGS', many(300, () => frame({ type: 'settings' })), [calm]],
    [
      'requests that it cancels',
      many(3_000, (stream) =>
        Buffer.concat([
          frame({ type: 'headers', flags: opening, stream, payload: request }),
          frame({ type: 'reset', stream, payload: Buffer.from([0, 0, 0, 8]) }),
        ]),
      ),
      [calm, constants.NGHTTP2_INTERNAL_ERROR],
    ],
    [
      'headers that never end',
      [
        frame({ type: 'headers', stream: 1, payload: request }),
        ...many(2_000, () =>
          frame({ type: 'continuation', stream: 1, payload: headerBlock({ a: 'b'.repeat(100) }) }),
        ),
      ],
      [calm, wrong, constants.NGHTTP2_INTERNAL_ERROR],
    ],
    [
      'a window update of zero',
      [frame({ type: 'windowUpdate', payload: Buffer.alloc(4) })],
      [wrong],
    ],
  ])('%s', async (_, frames, codes) => {
    const received = await send(frames);
    const [code] = goAwayCodes(received);
    expect(codes).toContain(code);
    await nothingIsHeld();
    await isServed();
  });
});

test('priorities of streams that do not exist use no memory', async () => {
  const priorities = Array.from({ length: 5_000 }, (_, at) =>
    frame({ type: 'priority', stream: 2 * at + 1, payload: Buffer.from([0, 0, 0, 0, 16]) }),
  );
  const ended = send(priorities);
  await isServed();
  pass(60_000);
  pass(5_000);
  await ended;
  await nothingIsHeld();
});

test.each([
  ['sends nothing', []],
  [
    'begins headers and does not end them',
    [frame({ type: 'headers', stream: 1, payload: request })],
  ],
])('an HTTP/2 connection that %s is closed after a minute', async (_, frames) => {
  const before = edge.server.state().connections;
  const ended = send(frames);
  await until('it is there', () => edge.server.state().connections > before);
  await isServed();
  pass(61_000);
  pass(5_000);
  await ended;
  await until('none is counted', () => edge.server.state().connections === 0);
});

test('a visitor whose requests are refused repeatedly is disconnected', async () => {
  await edge.close();
  const limits = { answersOfNetwork: 5, idleFrames: 20 };
  edge = await startEdge({ settings: { limits, now: () => now } });
  await edge.publish('rex.test', { 'index.html': 'Rex' });
  const session = await edge.session('rex.test', { settings: { initialWindowSize: 0 } });
  const sentAway = once(session, 'goaway') as Promise<[number]>;
  for (let count = 0; count < 50; count++) ask(session);
  expect((await sentAway)[0]).toBe(constants.NGHTTP2_ENHANCE_YOUR_CALM);
  await nothingIsHeld();
});

const ask = (session: ClientHttp2Session, headers = {}) =>
  session.request({ ':path': '/', ...headers }, { endStream: true }).on('error', () => undefined);

describe('an endless body', () => {
  const more = Buffer.alloc(16_384);
  /** Writes until the connection closes. */
  const endlessly = (to: Writable, what: Buffer | string): Promise<boolean> =>
    until('nobody listens', () => {
      for (let at = 0; at < 16 && !to.destroyed; at++) to.write(what);
      return to.destroyed;
    });

  test('that is sent over HTTP/2 is not read, and its stream ends', async () => {
    const session = await edge.session('rex.test');
    for (const [method, status] of [
      ['POST', '405'],
      ['GET', '200'],
    ] as const) {
      const stream = session.request({ ':path': '/', ':method': method }, { endStream: false });
      stream.on('error', () => undefined).resume();
      const over = endlessly(stream, more);
      const [headers] = (await once(stream, 'response')) as [Record<string, string>];
      expect(String(headers[':status'])).toBe(status);
      await closed(stream);
      await over;
      await nothingIsHeld();
    }
    expect((await requestIn(session, '/')).status).toBe(200);
    session.close();
  });

  test('that is sent over HTTP/1.1 ends its connection', async () => {
    const socket = await edge.connect('rex.test');
    const answer = text(socket);
    socket.write(`POST / HTTP/1.1\r\nHost: rex.test\r\nContent-Length: ${2 ** 50}\r\n\r\n`);
    const over = endlessly(socket, more);
    expect(await answer.catch(() => 'HTTP/1.1 405')).toMatch(/^HTTP\/1.1 405/);
    await closed(socket);
    await over;
    await nothingIsHeld();
  });
});

test('ranges of a small file are answered from memory', async () => {
  await isServed();
  const { bytesRead } = edge.files;
  for (let at = 0; at < 3; at++) {
    const headers = { Range: `bytes=${at}-${at}` };
    const part = await edge.get('rex.test', '/', { headers });
    expect([part.status, String(part.body)]).toEqual([206, 'Rex'.charAt(at)]);
  }
  expect(edge.files.bytesRead).toBe(bytesRead);
});

test('connections are counted by network, whichever of its addresses they come from', async () => {
  await edge.close();
  edge = await startEdge({
    settings: { limits: { connectionsOfNetwork: 2 } },
    networkOf: (address) => (address === '127.0.0.9' ? 'another' : 'one'),
  });
  await edge.publish('rex.test', { 'index.html': 'Rex' });
  const from = (localAddress: string) => edge.session('rex.test', { localAddress });
  const sessions = [await from('127.0.0.1'), await from('127.0.0.2')];
  await expect(from('127.0.0.3')).rejects.toThrow();
  sessions.push(await from('127.0.0.9'));
  for (const session of sessions) session.destroy();
});

describe('over TLS 1.2', () => {
  const only = (ciphers: string) => edge.connect('rex.test', { maxVersion: 'TLSv1.2', ciphers });

  test.each([
    'ECDHE-ECDSA-AES128-SHA256:ECDHE-ECDSA-AES256-SHA384',
    'ECDHE-ECDSA-AES128-SHA:ECDHE-ECDSA-AES256-SHA',
    'ECDHE-ECDSA-AES128-CCM',
  ])('a client that supports nothing better than %s is refused', async (ciphers) => {
    await expect(only(ciphers)).rejects.toMatchObject({
      code: expect.stringMatching(/HANDSHAKE_FAILURE$/) as unknown,
    });
  });

  test.each([
    'ECDHE-ECDSA-AES128-GCM-SHA256',
    'ECDHE-ECDSA-AES256-GCM-SHA384',
    'ECDHE-ECDSA-CHACHA20-POLY1305',
  ])('a client with %s is served', async (ciphers) => {
    const socket = await only(ciphers);
    socket.write('GET / HTTP/1.1\r\nHost: rex.test\r\nConnection: close\r\n\r\n');
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expect(socket.getProtocol() ?? 'TLSv1.2').toBe('TLSv1.2');
  });
});
