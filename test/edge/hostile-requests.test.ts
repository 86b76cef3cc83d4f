import { connect, type Socket } from 'node:net';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import fc from 'fast-check';
import { requestIn } from '../support/http/edge-client.ts';
import { siteStorages, startEdge, type RunningEdge } from '../support/http/running-edge.ts';
import { until } from '../support/until.ts';

const statusOf = (answer: string): number => Number(/^HTTP\/1\.1 (\d{3}) /.exec(answer)?.[1]);

describe.each(siteStorages)('a path, with sites stored in %s', (storage) => {
  let edge: RunningEdge;
  beforeAll(async () => {
    edge = await startEdge({ storage });
    await edge.publish('rex.test', {
      'index.html': 'Rex',
      'a/b.html': 'published',
      'a/b/c.txt': 'published',
    });
    await edge.publish('tom.test', { 'index.html': 'Tom', 'secret.html': 'of Tom' });
  });
  afterAll(() => edge.close());

  /** Sends bytes that no client would send. */
  const ask = (path: string): Promise<string> =>
    edge.raw('rex.test', [`GET ${path} HTTP/1.1`, 'Host: rex.test', 'Connection: close']);

  test.each([
    '//',
    '//evil.test',
    '/../tom.test/secret.html',
    '/%2E%2e/%2e./secret.html',
    '/a%0d%0aX-Evil:%201',
    '/%ff',
  ])('like %s is refused as malformed', async (path) => {
    const answer = await ask(path);
    expect(statusOf(answer)).toBe(400);
    expect(answer).toMatch(/\r\n\r\n400 Bad Request\n$/);
  });

  test('of up to 15 000 characters is looked up, and a longer one is refused', async () => {
    expect(statusOf(await ask(`/${'a'.repeat(15_000)}`))).toBe(404);
    expect(statusOf(await ask(`/${'a/'.repeat(7_000)}`))).toBe(404);
    expect(statusOf(await ask(`/${'%61'.repeat(5_000)}`))).toBe(404);
    expect(statusOf(await ask(`/${'a'.repeat(20_000)}`))).toBe(431);
  });

  const piece = fc.oneof(
    fc.constantFrom(
      '/',
      '//',
      '.',
      '..',
      '%2e',
      '%2f',
      '%5c',
      '\\',
      '%00',
      '%',
      '?',
      '#',
      ';',
      '~',
    ),
    fc.constantFrom('a', 'b', 'b.html', 'c.txt', 'index', 'index.html', 'secret.html', 'tom.test'),
    fc.constantFrom('%61', '%C3%BC', '%ff', '\xfc', '\t', '|', '"', '<', '*', ':', '@', '\x7f'),
  );
  const published: Readonly<Record<string, string>> = {
    '/': 'Rex',
    '/index': 'Rex',
    '/index.html': 'Rex',
    '/a/b': 'published',
    '/a/b.html': 'published',
    '/a/b/c.txt': 'published',
  };

  test('in any spelling is answered with 200 only where something is published', async () => {
    const anyPath = fc.array(piece, { maxLength: 6 }).map((pieces) => `/${pieces.join('')}`);
    await fc.assert(
      fc.asyncProperty(anyPath, async (path) => {
        const answer = await ask(path);
        const content = published[path.replace(/[?#].*/s, '').replaceAll('%61', 'a')] ?? 'nothing';
        if (statusOf(answer) === 200) {
          expect(answer.split('\r\n\r\n')[1]).toBe(content);
        } else {
          expect([400, 404]).toContain(statusOf(answer));
          expect(answer).not.toMatch(/published|Rex|Tom/);
        }
      }),
      { numRuns: 75 },
    );
  });
});

describe('a request that two servers could read differently', () => {
  let edge: RunningEdge;
  beforeAll(async () => {
    edge = await startEdge();
    await edge.publish('rex.test', { 'index.html': 'Rex' });
  });
  afterAll(() => edge.close());

  const next = 'GET /index.html HTTP/1.1\r\nHost: rex.test\r\n\r\n';
  const host = 'Host: rex.test';
  const both = ['Content-Length: 5', 'Transfer-Encoding: chunked'];

  test.each([
    ['a length and chunks', ['GET / HTTP/1.1', host, ...both], '0\r\n\r\n'],
    ['chunks and a length', ['GET / HTTP/1.1', host, ...both.toReversed()], '0\r\n\r\n'],
    ['two lengths', ['GET / HTTP/1.1', host, 'Content-Length: 5', 'Content-Length: 0'], ''],
    ['one length twice', ['GET / HTTP/1.1', host, 'Content-Length: 0', 'Content-Length: 0'], ''],
    ['a list of lengths', ['GET / HTTP/1.1', host, 'Content-Length: 0, 0'], ''],
    ['a negative length', ['GET / HTTP/1.1', host, 'Content-Length: -1'], ''],
    ['a length with a sign', ['GET / HTTP/1.1', host, 'Content-Length: +0'], ''],
    ['a huge length', ['GET / HTTP/1.1', host, `Content-Length: ${'9'.repeat(30)}`], ''],
    [
      'chunked as a coding that is not the last',
      ['GET / HTTP/1.1', host, 'Transfer-Encoding: chunked, x'],
      '',
    ],
    [
      'another coding before chunked',
      ['GET / HTTP/1.1', host, 'Transfer-Encoding: gzip, chunked'],
      '0\r\n\r\n',
    ],
    [
      'two lines with codings',
      ['GET / HTTP/1.1', host, 'Transfer-Encoding: identity', 'Transfer-Encoding: chunked'],
      '0\r\n\r\n',
    ],
    [
      'chunks over HTTP/1.0',
      ['GET / HTTP/1.0', host, 'Connection: keep-alive', 'Transfer-Encoding: chunked'],
      '0\r\n\r\n',
    ],
    ['bare line feeds', ['GET / HTTP/1.1\nHost: rex.test\nX: 1'], ''],
    ['a bare carriage return', ['GET / HTTP/1.1', host, 'X: a\rHost: tom.test'], ''],
    ['a folded header', ['GET / HTTP/1.1', host, 'X: a', ' b'], ''],
    ['a folded first header', ['GET / HTTP/1.1', ' X: a', host], ''],
    ['a space before a colon', ['GET / HTTP/1.1', host, 'Content-Length : 0'], ''],
    ['a header without a name', ['GET / HTTP/1.1', host, ': a'], ''],
    ['a header without a colon', ['GET / HTTP/1.1', host, 'X'], ''],
    ['a NUL', ['GET / HTTP/1.1', host, 'X: a\0b'], ''],
    ['a space in the path', ['GET /a b HTTP/1.1', host], ''],
    ['another version', ['GET / HTTP/1.2', host], ''],
    ['an unknown method', ['G\u00c4T / HTTP/1.1', host], ''],
  ])('for %s is refused, and nothing after it is read', async (_, lines, body) => {
    const answer = await edge.raw('rex.test', lines, body + next);
    const refusals = answer.match(/HTTP\/1\.1 \d{3} .*/g) ?? [];
    expect(refusals).toEqual(['HTTP/1.1 400 Bad Request']);
    expect(answer).not.toContain('Rex');
    const plain = await edge.plain(lines, body + next);
    expect(plain.match(/HTTP\/1\.1 \d{3} .*/g)).toEqual(['HTTP/1.1 400 Bad Request']);
  });

  test.each([
    ['an unknown coding', 'xchunked', ''],
    ['a chunk without a size', 'chunked', 'x\r\n\r\n'],
    ['a chunk that is too long', 'chunked', '1\r\nab\r\n0\r\n\r\n'],
    ['a huge chunk', 'chunked', `${'f'.repeat(30)}\r\n`],
  ])('for %s in its body is answered at most once, and nothing after it is read', async (...it) => {
    const [, coding, body] = it;
    const lines = ['GET / HTTP/1.1', host, `Transfer-Encoding: ${coding}`];
    for (const ask of [edge.raw.bind(edge, 'rex.test'), edge.plain.bind(edge)]) {
      const answers = (await ask(lines, body + next)).match(/HTTP\/1\.1 \d{3}/g);
      expect(answers?.join()).toMatch(/^HTTP\/1.1 (400|(200|308)(,HTTP\/1.1 400)?)$/);
    }
  });

  test('for a GET with a body treats that body as a body, not as a request', async () => {
    const lines = ['GET / HTTP/1.1', host, `Content-Length: ${next.length}`];
    const last = `GET / HTTP/1.1\r\n${host}\r\nConnection: close\r\n\r\n`;
    const answer = await edge.raw('rex.test', lines, next + last);
    expect(answer.match(/\r\n\r\nRex/g)).toHaveLength(2);
  });

  test('for an unneeded body ends the connection after the answer', async () => {
    const lines = ['POST / HTTP/1.1', host, `Content-Length: ${next.length}`];
    const answer = await edge.raw('rex.test', lines, next + next);
    expect(answer.match(/HTTP\/1\.1 \d{3}/g)).toEqual(['HTTP/1.1 405']);
    expect(answer).toContain('\r\nConnection: close\r\n');
  });

  test('for a body that waits for 100 Continue is answered at once, and the connection ends', async () => {
    const lines = ['POST / HTTP/1.1', host, 'Content-Length: 5', 'Expect: 100-continue'];
    const statusesOf = (answer: string) => answer.match(/HTTP\/1\.1 \d{3}/g);
    expect(statusesOf(await edge.raw('rex.test', lines))).toEqual(['HTTP/1.1 405']);
    expect(statusesOf(await edge.plain(lines))).toEqual(['HTTP/1.1 308']);
    const reading = ['GET / HTTP/1.1', ...lines.slice(1)];
    expect(statusesOf(await edge.raw('rex.test', reading))).toEqual(['HTTP/1.1 200']);
    const session = await edge.session('rex.test');
    const stream = session.request({ ':method': 'POST', expect: '100-continue' });
    const invited = jest.fn();
    stream.on('continue', invited);
    const [answer] = (await once(stream, 'response')) as [Record<string, unknown>];
    expect([answer[':status'], invited.mock.calls]).toEqual([405, []]);
    session.close();
  });

  test('for an upgrade to another protocol is answered as plain HTTP', async () => {
    for (const upgrade of ['h2c', 'websocket']) {
      const lines = ['GET / HTTP/1.1', host, `Upgrade: ${upgrade}`, 'Connection: Upgrade, close'];
      expect(statusOf(await edge.raw('rex.test', lines))).toBe(200);
    }
    expect(
      await edge.raw('rex.test', ['CONNECT tom.test:443 HTTP/1.1', 'Host: tom.test:443']),
    ).toBe('');
  });
});

describe('an oversized request head', () => {
  let edge: RunningEdge;
  beforeAll(async () => {
    edge = await startEdge();
    await edge.publish('rex.test', { 'index.html': 'Rex' });
  });
  afterAll(() => edge.close());

  const withHeaders = (count: number, size = 1): readonly string[] => [
    'GET / HTTP/1.1',
    'Host: rex.test',
    'Connection: close',
    ...Array.from({ length: count - 2 }, (_, at) => `X-${at}: ${'x'.repeat(size)}`),
  ];

  test('with 100 headers or more is refused, and no header is ignored', async () => {
    for (const ask of [edge.raw.bind(edge, 'rex.test'), edge.plain.bind(edge)]) {
      expect([200, 308]).toContain(statusOf(await ask(withHeaders(99))));
      for (const count of [100, 101, 200, 1000]) {
        expect(statusOf(await ask(withHeaders(count)))).toBe(431);
      }
    }
  });

  test('with a Host after the hundredth header is refused', async () => {
    const lines = [...withHeaders(150), 'Host: tom.test'];
    expect(statusOf(await edge.raw('rex.test', lines))).toBe(431);
  });

  test('with 16 KiB of headers in all is refused', async () => {
    for (const ask of [edge.raw.bind(edge, 'rex.test'), edge.plain.bind(edge)]) {
      expect([200, 308]).toContain(statusOf(await ask(withHeaders(3, 15_000))));
      expect(statusOf(await ask(withHeaders(3, 17_000)))).toBe(431);
      expect(statusOf(await ask(withHeaders(50, 400)))).toBe(431);
    }
  });

  test('over HTTP/2 is refused, and its connection continues', async () => {
    const session = await edge.session('rex.test');
    const headersOf = (count: number, size = 1) =>
      Object.fromEntries(Array.from({ length: count }, (_, at) => [`x-${at}`, 'x'.repeat(size)]));
    const ask = (count: number, size?: number) =>
      requestIn(session, '/', { headers: headersOf(count, size) });
    try {
      expect((await ask(90)).status).toBe(200);
      expect((await ask(96)).status).toBe(431);
      await expect(ask(200)).rejects.toThrow('NGHTTP2_ENHANCE_YOUR_CALM');
      expect((await ask(2, 7_000)).status).toBe(200);
      await expect(ask(2, 9_000)).rejects.toThrow('NGHTTP2_ENHANCE_YOUR_CALM');
      expect((await ask(1)).status).toBe(200);
    } finally {
      session.close();
    }
  });
});

describe('several requests in one packet', () => {
  test('over plain HTTP are answered one after the other, up to a limit', async () => {
    const edge = await startEdge();
    try {
      const socket = connect(edge.ports.http, '127.0.0.1').on('error', () => undefined);
      let answers = '';
      socket.on('data', (bytes) => (answers += bytes.toString('latin1')));
      socket.write('GET / HTTP/1.1\r\nHost: rex.test\r\n\r\n'.repeat(1_000));
      await new Promise((resolve) => socket.once('close', resolve));
      expect((answers.match(/HTTP\/1\.1 404/g) ?? []).length).toBeLessThan(10);
      expect(
        statusOf(await edge.plain(['GET / HTTP/1.1', 'Host: a.test', 'Connection: close'])),
      ).toBe(404);
    } finally {
      await edge.close();
    }
  });
});

describe('connections from one address', () => {
  test('are limited over both ports together, and each one that ends makes room', async () => {
    const edge = await startEdge({ settings: { limits: { connectionsOfNetwork: 5 } } });
    await edge.publish('rex.test', { 'index.html': 'Rex' });
    const open = async (port: number): Promise<Socket> => {
      const socket = connect(port, '127.0.0.1').on('error', () => undefined);
      await once(socket, 'connect');
      return socket;
    };
    try {
      const { http, https } = edge.ports;
      const kept = await Promise.all([http, http, http, https, https].map(open));
      await until('all are taken', () => edge.server.state().connections === kept.length);
      for (const port of [http, https]) {
        const refused = await open(port);
        expect(await text(refused).catch(() => 'reset')).toMatch(/^(reset)?$/);
      }
      await expect(edge.get('rex.test', '/')).rejects.toThrow();
      expect(kept.filter(({ readyState }) => readyState !== 'open')).toEqual([]);
      kept[0]!.destroy();
      const served = async () =>
        (await edge.get('rex.test', '/').catch(() => undefined))?.status === 200;
      await until('there is room again', served);
      for (const socket of kept) socket.destroy();
    } finally {
      await edge.close();
    }
  });
});
