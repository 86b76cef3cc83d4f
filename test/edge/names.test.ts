import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Answer } from '../../src/adapters/edge/answers.ts';
import type { Answers } from '../../src/adapters/edge/answers.ts';
import { secureHandler, type EdgePorts } from '../../src/adapters/edge/edge-handler.ts';
import { closed, protocols, requestIn } from '../support/http/edge-client.ts';
import { startEdge, type RunningEdge } from '../support/http/running-edge.ts';
import { now } from '../support/accounts.ts';
import type { EdgeRequest, EdgeResponse } from '../../src/adapters/edge/edge-answer.ts';

describe('the host name of a request', () => {
  let edge: RunningEdge;
  beforeAll(async () => {
    edge = await startEdge();
    await edge.publish('rex.test', { 'index.html': 'Rex', 'a/index.html': 'a' });
    await edge.publish('tom.sites.test', { 'index.html': 'Tom' });
    await edge.publish('xn--grn-hoa.test', { 'index.html': 'Green' });
  });
  afterAll(() => edge.close());

  test.each(protocols)('alone decides over %s which site is served', async (protocol) => {
    for (const [host, name] of [
      ['rex.test', 'Rex'],
      ['tom.sites.test', 'Tom'],
      ['xn--grn-hoa.test', 'Green'],
    ] as const) {
      const answer = await edge.visit(protocol, host, '/');
      expect([answer.status, String(answer.body)]).toEqual([200, name]);
    }
  });

  const statusOf = (answer: string): number => Number(/^HTTP\/1\.1 (\d{3}) /.exec(answer)?.[1]);
  const secure = async (lines: readonly string[]): Promise<number> =>
    statusOf(await edge.raw('rex.test', [...lines, 'Connection: close']));
  const plain = async (lines: readonly string[]): Promise<number> =>
    statusOf(await edge.plain([...lines, 'Connection: close']));

  test.each(['Rex.TEST.:1', '  rex.test  '])('may be written as "%s"', async (host) => {
    expect(await secure(['GET / HTTP/1.1', `Host: ${host}`])).toBe(200);
    expect(await plain(['GET / HTTP/1.1', `Host: ${host}`])).toBe(308);
  });

  test.each(['', 'rex.test/evil', 'rex.test\ttom.sites.test', 'rex.t\xe9st'])(
    'is refused when it is "%s"',
    async (host) => {
      expect(await secure(['GET / HTTP/1.1', `Host: ${host}`])).toBe(400);
      expect(await plain(['GET / HTTP/1.1', `Host: ${host}`])).toBe(400);
    },
  );

  test.each([
    ['no Host', ['GET / HTTP/1.1']],
    ['two Hosts', ['GET / HTTP/1.1', 'Host: rex.test', 'Host: tom.sites.test']],
    ['the same Host twice', ['GET / HTTP/1.1', 'Host: rex.test', 'hOsT: rex.test']],
    ['a URL of another host', ['GET https://tom.sites.test/ HTTP/1.1', 'Host: rex.test']],
    ['a URL and no Host', ['GET https://rex.test/ HTTP/1.1']],
    ['an asterisk', ['OPTIONS * HTTP/1.1', 'Host: rex.test']],
  ])('is refused with %s', async (_, lines) => {
    expect(await secure(lines)).toBe(400);
    expect(await plain(lines)).toBe(400);
  });

  test('may also be in the URL if both are the same', async () => {
    expect(await secure(['GET HTTPS://REX.test:8443/?a HTTP/1.1', 'Host: rex.test'])).toBe(200);
    expect(await secure(['GET https://rex.test/a HTTP/1.1', 'Host: rex.test'])).toBe(308);
  });

  test('is required in HTTP/1.0 too, which is supported', async () => {
    expect(await secure(['GET / HTTP/1.0', 'Host: rex.test'])).toBe(200);
  });

  test.each(['tom.sites.test', 'unknown.test', 'sites.test', 'rex.test.evil.test'])(
    'must be the one of the TLS handshake: %s gets 421',
    async (host) => {
      const answer = await edge.raw('rex.test', [
        'GET / HTTP/1.1',
        `Host: ${host}`,
        'Connection: close',
      ]);
      expect(answer).toMatch(/^HTTP\/1\.1 421 Misdirected Request\r\n/);
      expect(answer).toMatch(/\r\n\r\n421 Misdirected Request\n$/);
    },
  );

  test('is :authority in HTTP/2, and a Host header must match it', async () => {
    const session = await edge.session('rex.test');
    const ask = async (headers: Readonly<Record<string, string>>) =>
      (await requestIn(session, '/', { headers })).status;
    try {
      expect(await ask({ ':authority': 'rex.test' })).toBe(200);
      expect(await ask({ ':authority': 'REX.test:8443' })).toBe(200);
      expect(await ask({ ':authority': 'rex.test', host: 'rex.test:443' })).toBe(200);
      expect(await ask({ host: 'rex.test' })).toBe(200);
      expect(await ask({ ':authority': 'rex.test', host: 'tom.sites.test' })).toBe(400);
      expect(await ask({ ':authority': 'tom.sites.test', host: 'rex.test' })).toBe(400);
      expect(await ask({ ':authority': 'rex.test:0' })).toBe(400);
      expect(await ask({ ':authority': 'tom.sites.test' })).toBe(421);
      expect(await ask({ ':authority': 'unknown.test' })).toBe(421);
      expect(await ask({ ':authority': 'rex.test' })).toBe(200);
    } finally {
      session.close();
    }
  });

  test('may be in upper or lower case in a handshake', async () => {
    const socket = await edge.connect('REX.test');
    expect(socket.getPeerCertificate().subjectaltname).toBe('DNS:rex.test');
    socket.destroy();
  });
});

describe('a handshake', () => {
  let edge: RunningEdge;
  beforeAll(async () => {
    edge = await startEdge();
    await edge.publish('rex.test', { 'index.html': 'Rex' });
    const deployId = await edge.store('new.test', { 'index.html': 'New' });
    await edge.removeCertificate('new.test', now);
    await edge.setRoute({
      name: 'broken.test',
      projectId: 'proj_broken',
      kind: 'site',
      deployId,
    });
    const { chain } = await edge.issue('broken.test');
    const other = await edge.issue('other.test');
    await edge.setCertificate({ ...other, host: 'broken.test', chain });
    await edge.setCertificate(await edge.issue('unpublished.test'));
    await edge.routes.refresh();
  });
  afterAll(() => edge.close());

  describe.each(['TLSv1.2', 'TLSv1.3'] as const)('of %s', (version) => {
    const as = { minVersion: version, maxVersion: version };

    test('for a published host presents its certificate', async () => {
      const socket = await edge.connect('rex.test', as);
      expect(socket.getProtocol()).toBe(version);
      expect(socket.authorized).toBe(true);
      socket.destroy();
    });

    test.each([
      'unknown.test',
      'www.rex.test',
      'test',
      'sites.test',
      'unpublished.test',
      'new.test',
      'rex.test.',
      `${'a'.repeat(63)}.test`,
    ])('for %s is refused with unrecognized_name', async (name) => {
      const refused = edge.connect(name, { ...as, rejectUnauthorized: false });
      await expect(refused).rejects.toHaveProperty('code', 'ERR_SSL_TLSV1_UNRECOGNIZED_NAME');
    });

    test('without a name is refused, and no certificate is presented', async () => {
      const refused = edge.connect('', { ...as, rejectUnauthorized: false });
      await expect(refused).rejects.toHaveProperty(
        'code',
        'ERR_SSL_SSL/TLS_ALERT_HANDSHAKE_FAILURE',
      );
    });

    test('with a broken certificate is refused like an unknown name, and others are not affected', async () => {
      const refused = edge.connect('broken.test', { ...as, rejectUnauthorized: false });
      await expect(refused).rejects.toHaveProperty('code', 'ERR_SSL_TLSV1_UNRECOGNIZED_NAME');
      expect((await edge.get('rex.test', '/')).status).toBe(200);
      const message = 'certificate cannot be used, host refused';
      expect(edge.logged.map(({ msg }) => msg)).toEqual([message]);
    });
  });

  test.each(['TLSv1', 'TLSv1.1'] as const)('of %s is refused', async (version) => {
    const old = { minVersion: version, maxVersion: version, ciphers: 'DEFAULT@SECLEVEL=0' };
    await expect(edge.connect('rex.test', old)).rejects.toHaveProperty(
      'code',
      'ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION',
    );
  });

  test.each([
    ['for an unknown host', 'unknown.test', [21, 3, 3, 0, 2, 2, 112]],
    ['without a name', '', [21, 3, 3, 0, 2, 2, 40]],
  ])('%s gets one alert and no more data', async (_, name, alert) => {
    const socket = connect(edge.ports.https, '127.0.0.1');
    socket.write(await clientHello(name));
    expect([...(await buffer(socket))]).toEqual(alert);
  });

  test('is not renegotiated, because that could change the name of a connection but not its certificate', async () => {
    const socket = await edge.connect('rex.test', { maxVersion: 'TLSv1.2' });
    const failure = await new Promise<Error | null>((done) => {
      socket.once('error', done);
      socket.renegotiate({ rejectUnauthorized: false }, done);
    });
    expect(failure?.message).toMatch(/no renegotiation/);
    socket.destroy();
  });

  test('that is invalid ends the connection, and others are not affected', async () => {
    const before = edge.server.state().refusedHandshakes;
    const socket = connect(edge.ports.https, '127.0.0.1');
    socket.write('GET / HTTP/1.1\r\nHost: rex.test\r\n\r\n');
    socket.resume();
    await closed(socket);
    expect(edge.server.state().refusedHandshakes).toBe(before + 1);
    expect((await edge.get('rex.test', '/')).status).toBe(200);
  });

  test('offers HTTP/2 first, and HTTP/1.1 to clients without HTTP/2', async () => {
    for (const [offered, chosen] of [
      [['h2', 'http/1.1'], 'h2'],
      [['http/1.1', 'h2'], 'h2'],
      [['http/1.1'], 'http/1.1'],
      [undefined, false],
    ] as const) {
      const socket = await edge.connect('rex.test', offered && { ALPNProtocols: [...offered] });
      expect(socket.alpnProtocol).toBe(chosen);
      socket.destroy();
    }
  });
});

const clientHello = async (servername: string): Promise<Buffer> => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const client = connectTls({ host: '127.0.0.1', port, servername }).on('error', () => undefined);
  const [socket] = (await once(server, 'connection')) as [Socket];
  const [hello] = (await once(socket, 'data')) as [Buffer];
  client.destroy();
  server.close();
  return hello;
};

describe('plain HTTP', () => {
  let edge: RunningEdge;
  beforeAll(async () => {
    edge = await startEdge();
    await edge.publish('rex.test', { 'index.html': 'Rex' });
  });
  afterAll(() => edge.close());

  const ask = (target: string, host: string, method = 'GET') =>
    edge.plain([`${method} ${target} HTTP/1.1`, `Host: ${host}`, 'Connection: close']);

  test('redirects visitors of a published host to HTTPS, with path and query', async () => {
    for (const target of ['/', '/a/b%20c?d=e&f=%2F', '/nothing', '/..//']) {
      const answer = await ask(target, 'Rex.test');
      expect(answer).toMatch(/^HTTP\/1\.1 308 Permanent Redirect\r\n/);
      expect(answer).toContain(`\r\nLocation: https://rex.test${target}\r\n`);
    }
  });

  test("redirects visitors of the edge's HTTP port to its HTTPS port", async () => {
    const direct = await ask('/a', `rex.test:${edge.ports.http}`);
    expect(direct).toContain(`\r\nLocation: https://rex.test:${edge.ports.https}/a\r\n`);
    expect(await ask('/a', 'rex.test:80')).toContain('\r\nLocation: https://rex.test/a\r\n');
  });

  test('redirects every method, and serves nothing itself', async () => {
    for (const method of ['HEAD', 'POST', 'PUT', 'OPTIONS']) {
      expect(await ask('/', 'rex.test', method)).toMatch(/^HTTP\/1\.1 308 /);
    }
    expect(await ask('/', 'rex.test', 'HEAD')).toMatch(/\r\n\r\n$/);
  });

  test('is 404 for an unknown host, and reveals no other host', async () => {
    for (const host of [
      'unknown.test',
      'sites.test',
      '127.0.0.1',
      `127.0.0.1:${edge.ports.http}`,
    ]) {
      const answer = await ask('/', host);
      expect(answer).toMatch(/^HTTP\/1\.1 404 Not Found\r\n/);
      expect(answer).toMatch(/\r\n\r\n404 Not Found\n$/);
      expect(answer).not.toMatch(/location|rex/i);
    }
  });

  test('does not redirect the challenge requests of certificate authorities', async () => {
    const answer = await ask('/.well-known/acme-challenge/token', 'rex.test');
    expect(answer).toMatch(/^HTTP\/1\.1 404 Not Found\r\n/);
    expect(answer).not.toMatch(/\r\nLocation:/i);
    expect(await ask('/.well-known/other', 'rex.test')).toMatch(/^HTTP\/1\.1 308 /);
  });
});

/** A connection opened for rex.test, whose socket now has another name. */
const connection = { connection: { host: 'rex.test' } } as unknown as Answer;
const socket = { servername: 'tom.test' } as unknown as TLSSocket;

const statusFor = (host: string): number | undefined => {
  const answers = { begin: () => connection } as unknown as Answers;
  const routes = { find: () => ({ kind: 'redirect', to: 'https://x.test', status: 307 }) };
  let status: number | undefined;
  const request = { url: '/', headers: { host }, rawHeaders: ['Host', host], socket };
  const response = { writeHead: (code: number) => (status = code), end: () => undefined };
  secureHandler({ routes } as unknown as EdgePorts, answers)(
    request as unknown as EdgeRequest,
    response as unknown as EdgeResponse,
  );
  return status;
};

test('a request over TLS must be for the host that its connection was opened for', () => {
  expect([statusFor('rex.test'), statusFor('tom.test')]).toEqual([307, 421]);
});
