import type { ClientHttp2Session } from 'node:http2';
import { Agent } from 'node:https';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { protocols, requestIn, type EdgeAnswer, type Visit } from '../support/http/edge-client.ts';
import { siteStorages, startEdge, type RunningEdge } from '../support/http/running-edge.ts';
import { until } from '../support/until.ts';

const page = '<p>Rex is a good dog</p>\n'.repeat(100);
const alphabet = 'abcdefghijklmnopqrstuvwxyz';

/** Not each pair, because how a file is read does not depend on the protocol. */
const ways = [
  [siteStorages[0], protocols[0]],
  [siteStorages[1], protocols[1]],
] as const;

describe.each(ways)('the encodings of a file stored in %s, over %s', (storage, protocol) => {
  let edge: RunningEdge;
  let session: ClientHttp2Session;
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  beforeAll(async () => {
    edge = await startEdge({ storage });
    await edge.publish('rex.test', {
      'index.html': page,
      'other.html': `${page} and another one`,
      '404.html': page,
      'alphabet.txt': alphabet,
      'empty.txt': '',
    });
    session = await edge.session('rex.test');
  });
  afterAll(async () => {
    session.close();
    agent.destroy();
    await edge.close();
  });

  const ask = (path: string, headers: Visit['headers'] = {}, method = 'GET') =>
    protocol === 'HTTP/2'
      ? requestIn(session, path, { headers, method })
      : edge.get('rex.test', path, { headers, method, agent });
  const decoded = ({ headers, body }: EdgeAnswer): string => {
    if (headers['content-encoding'] === 'br') return String(brotliDecompressSync(body));
    return String(headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body);
  };
  const etagOf = async (path: string, accepted?: string): Promise<string> => {
    const { headers } = await ask(path, accepted ? { 'Accept-Encoding': accepted } : {});
    return headers['etag'] as string;
  };

  test.each([
    ['gzip, deflate, br, zstd', 'br'],
    ['br;q=0, gzip', 'gzip'],
    ['identity', undefined],
    ['br;q=x, ;;;,,', undefined],
  ])('a client that accepts "%s" gets %s', async (accepted, encoding) => {
    const answer = await ask('/', { 'Accept-Encoding': accepted });
    expect(answer.headers['content-encoding']).toBe(encoding);
    expect(answer.headers['content-length']).toBe(String(answer.body.length));
    expect(decoded(answer)).toBe(page);
    expect(encoding === undefined || answer.body.length < page.length / 2).toBe(true);
  });

  test('a request without Accept-Encoding gets the file uncompressed', async () => {
    const answer = await ask('/');
    expect(answer.headers['content-encoding']).toBeUndefined();
    expect(String(answer.body)).toBe(page);
  });

  test('files with several encodings have a Vary header, and others have none', async () => {
    for (const accepted of ['br', 'gzip', 'identity']) {
      const { headers } = await ask('/', { 'Accept-Encoding': accepted });
      expect(headers['vary']).toBe('Accept-Encoding');
    }
    const known = await ask('/', { 'If-None-Match': '*' });
    expect(known.headers['vary']).toBe('Accept-Encoding');
    const small = await ask('/alphabet.txt', { 'Accept-Encoding': 'br' });
    expect([small.headers['vary'], small.headers['content-encoding']]).toEqual([
      undefined,
      undefined,
    ]);
  });

  test('the 404 page is negotiated too', async () => {
    const answer = await ask('/nothing', { 'Accept-Encoding': 'gzip' });
    expect([answer.status, decoded(answer)]).toEqual([404, page]);
    expect(answer.headers['content-encoding']).toBe('gzip');
  });

  test('every encoding of every file has its own fixed ETag', async () => {
    const asked = ['br', 'gzip', 'identity'].flatMap((accepted) =>
      ['/', '/other', '/index.html'].map((path) => [path, accepted] as const),
    );
    const etags = await Promise.all(asked.map(([path, accepted]) => etagOf(path, accepted)));
    expect(etags.filter((etag) => !/^"[\w-]+"$/.test(etag))).toEqual([]);
    expect(new Set(etags).size).toBe(6);
    expect(await etagOf('/', 'br')).toBe(etags[0]);
  });

  test.each([
    ['the ETag', (etag: string) => etag],
    ['the ETag in weak form', (etag: string) => `W/${etag}`],
    ['the ETag in a list', (etag: string) => `"a", W/"b" ,${etag},"c"`],
    ['any', () => '*'],
  ])('a client that already has %s gets 304 without content', async (_, condition) => {
    for (const accepted of ['br', 'gzip', 'identity']) {
      const etag = await etagOf('/', accepted);
      for (const method of ['GET', 'HEAD']) {
        const headers = { 'Accept-Encoding': accepted, 'If-None-Match': condition(etag) };
        const answer = await ask('/', headers, method);
        expect([answer.status, answer.headers['etag'], answer.body.length]).toEqual([304, etag, 0]);
        expect(answer.headers).toMatchObject({
          'cache-control': 'public, max-age=0, must-revalidate',
          'x-content-type-options': 'nosniff',
        });
        expect(answer.headers).not.toHaveProperty('content-type');
        expect(answer.headers).not.toHaveProperty('content-encoding');
        expect(answer.headers).not.toHaveProperty('content-length');
      }
    }
  });

  test('a request with another ETag gets the whole file', async () => {
    const others = [await etagOf('/other'), await etagOf('/', 'br'), '"x"', 'W/"x"', '""', 'x'];
    for (const other of others) {
      const answer = await ask('/', { 'If-None-Match': other });
      expect([answer.status, String(answer.body)]).toEqual([200, page]);
    }
  });

  test.each(['GET', 'HEAD'])('%s with If-Match gets the named version or 412', async (method) => {
    const etag = await etagOf('/alphabet.txt');
    const statusFor = async (named: string, path = '/alphabet.txt') =>
      (await ask(path, { 'If-Match': named, 'If-None-Match': '"x"' }, method)).status;
    for (const named of [etag, `"x", ${etag}`, '*']) expect(await statusFor(named)).toBe(200);
    for (const other of ['"x"', `W/${etag}`, '']) expect(await statusFor(other)).toBe(412);
    expect(await statusFor('"x"', '/nothing')).toBe(404);
    const known = { 'If-Match': '"x"', 'If-None-Match': etag, Range: 'bytes=0-2' };
    expect((await ask('/alphabet.txt', known, method)).status).toBe(412);
  });

  test('a 404 page is never answered 304', async () => {
    expect((await ask('/nothing', { 'If-None-Match': '*' })).status).toBe(404);
  });

  test.each([
    ['bytes=2-4', 'cde', '2-4'],
    ['bytes=23-', 'xyz', '23-25'],
    ['bytes=-3', 'xyz', '23-25'],
  ])('the range %s of the alphabet is %s', async (range, content, bytes) => {
    const answer = await ask('/alphabet.txt', { Range: range });
    expect([answer.status, String(answer.body)]).toEqual([206, content]);
    expect(answer.headers).toMatchObject({
      'content-range': `bytes ${bytes}/26`,
      'content-length': String(content.length),
      'accept-ranges': 'bytes',
      'content-type': 'text/plain; charset=utf-8',
      etag: await etagOf('/alphabet.txt'),
    });
  });

  test.each(['bytes=26-', `bytes=${'9'.repeat(400)}-`])(
    'the range %s of the alphabet is refused, with the length of the file',
    async (range) => {
      const answer = await ask('/alphabet.txt', { Range: range });
      expect([answer.status, answer.headers['content-range']]).toEqual([416, 'bytes */26']);
    },
  );

  test('a range counts bytes of the file itself, whatever encoding is accepted', async () => {
    const answer = await ask('/', { Range: 'bytes=3-12', 'Accept-Encoding': 'br, gzip' });
    expect([answer.status, String(answer.body)]).toEqual([206, page.slice(3, 13)]);
    expect(answer.headers['content-encoding']).toBeUndefined();
    expect(answer.headers['etag']).toBe(await etagOf('/', 'identity'));
    expect(answer.headers['vary']).toBe('Accept-Encoding');
  });

  test('a range is applied only to the version that If-Range names', async () => {
    const range = { Range: 'bytes=0-2' };
    const etag = await etagOf('/alphabet.txt');
    const same = await ask('/alphabet.txt', { ...range, 'If-Range': etag });
    expect([same.status, String(same.body)]).toEqual([206, 'abc']);
    const compressed = await etagOf('/', 'br');
    for (const other of [`W/${etag}`, '"x"', compressed, 'Sat, 21 Nov 2026 10:00:00 GMT']) {
      const whole = await ask('/alphabet.txt', { ...range, 'If-Range': other });
      expect([whole.status, String(whole.body)]).toEqual([200, alphabet]);
      const gone = await ask('/alphabet.txt', { Range: 'bytes=99-', 'If-Range': other });
      expect(gone.status).toBe(200);
    }
  });

  test('a range is ignored by HEAD and by the 404 page, and a 304 takes precedence over it', async () => {
    const head = await ask('/alphabet.txt', { Range: 'bytes=0-2' }, 'HEAD');
    expect([head.status, head.headers['content-length']]).toEqual([200, '26']);
    const missing = await ask('/nothing', { Range: 'bytes=0-2' });
    expect([missing.status, String(missing.body)]).toEqual([404, page]);
    const known = await ask('/alphabet.txt', { Range: 'bytes=0-2', 'If-None-Match': '*' });
    expect(known.status).toBe(304);
  });
});

describe.each(siteStorages)('a large file stored in %s', (storage) => {
  // Does not repeat itself, so that a piece in the wrong place is noticed.
  const large = Buffer.from(Uint32Array.from({ length: 1_500_000 }, (_, at) => at * 40_503).buffer);
  const larger = Buffer.alloc(30_000_000);
  let edge: RunningEdge;
  beforeAll(async () => {
    edge = await startEdge({ storage });
    await edge.publish('rex.test', {
      'index.html': page,
      'large.bin': large,
      'larger.bin': larger,
    });
  });
  afterAll(() => edge.close());

  describe.each(protocols)('over %s', (protocol) => {
    test('is sent completely, or in the requested range', async () => {
      const whole = await edge.visit(protocol, 'rex.test', '/large.bin');
      expect(whole.headers['content-length']).toBe('6000000');
      expect(whole.body.equals(large)).toBe(true);
      const headers = { Range: 'bytes=1000001-2000002' };
      const part = await edge.visit(protocol, 'rex.test', '/large.bin', { headers });
      expect(part.status).toBe(206);
      expect(part.body.equals(large.subarray(1_000_001, 2_000_003))).toBe(true);
      const head = await edge.visit(protocol, 'rex.test', '/large.bin', { method: 'HEAD' });
      expect([head.status, head.headers['content-length']]).toEqual([200, '6000000']);
      await until('nothing is read any more', () => edge.files.open === 0);
    });

    test('is not read further for a visitor who stops reading or leaves', async () => {
      const before = edge.files.bytesRead;
      const session = await edge.session('rex.test');
      const socket = await edge.connect('rex.test');
      if (protocol === 'HTTP/2') session.request({ ':path': '/larger.bin' }).pause();
      else socket.write('GET /larger.bin HTTP/1.1\r\nHost: rex.test\r\n\r\n');
      await until('it is read', () => edge.files.bytesRead > before);
      await until('it is not read on', async () => {
        const read = edge.files.bytesRead;
        expect((await edge.get('rex.test', '/')).status).toBe(200);
        return edge.files.bytesRead === read;
      });
      expect(edge.files.bytesRead - before).toBeLessThan(larger.length);
      expect(edge.files.open).toBe(1);
      session.destroy();
      socket.destroy();
      await until('nothing is read any more', () => edge.files.open === 0);
    });

    test('that breaks off does not look complete', async () => {
      edge.files.readsAtMost = 200_000;
      try {
        const broken = edge.visit(protocol, 'rex.test', '/large.bin');
        await expect(broken).rejects.toThrow(/aborted|NGHTTP2_INTERNAL_ERROR/);
      } finally {
        edge.files.readsAtMost = Infinity;
      }
      expect((await edge.visit(protocol, 'rex.test', '/')).status).toBe(200);
    });
  });
});

test('a page with many pictures is sent completely over one connection', async () => {
  const edge = await startEdge();
  const names = Array.from({ length: 60 }, (_, at) => `picture-${at}.png`);
  const content = (name: string) => Buffer.alloc(500_000, name);
  await edge.publish('rex.test', {
    'index.html': page,
    ...Object.fromEntries(names.map((name) => [name, content(name)])),
  });
  const session = await edge.session('rex.test');
  try {
    for (const name of names) await requestIn(session, `/${name}`);
    const pictures = names.map(async (name) => (await requestIn(session, `/${name}`)).body);
    const came = await Promise.all(pictures);
    expect(came.map((body, at) => body.equals(content(names[at]!)))).toEqual(names.map(() => true));
  } finally {
    session.close();
    await edge.close();
  }
});
