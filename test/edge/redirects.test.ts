import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { protocols, requestIn } from '../support/http/edge-client.ts';
import { startEdge, type RunningEdge } from '../support/http/running-edge.ts';
import { now } from '../support/accounts.ts';

const projectId = 'proj_rex';

let edge: RunningEdge;
let deployId: string;
beforeEach(async () => {
  edge = await startEdge();
  await edge.publish('rex.test', { 'index.html': 'Rex' }, projectId);
  deployId = await edge.store('www.rex.test', { 'index.html': 'www' }, projectId);
  await lead('rex.test');
});
afterEach(() => edge.close());

const lead = async (to: string, status = 308): Promise<void> => {
  await edge.setRoute({ name: 'www.rex.test', projectId, kind: 'redirect', to, status });
  await edge.routes.refresh();
};

const locationOf = async (path: string): Promise<string | string[] | undefined> =>
  (await edge.get('www.rex.test', path)).headers['location'];

describe.each(protocols)('a redirect over %s', (protocol) => {
  test.each([301, 302, 307, 308])('has the status %d that its owner chose', async (status) => {
    await lead('rex.test', status);
    const answer = await edge.visit(protocol, 'www.rex.test', '/');
    expect([answer.status, answer.headers['location']]).toEqual([status, 'https://rex.test/']);
    expect(String(answer.body)).toMatch(new RegExp(`^${status} [A-Z].*\n$`));
    expect(answer.headers['cache-control']).toBe('no-store');
  });

  test.each(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS'])(
    'is the same for %s',
    async (method) => {
      for (const status of [307, 308]) {
        await lead('rex.test', status);
        const answer = await edge.visit(protocol, 'www.rex.test', '/a?b', { method });
        expect([answer.status, answer.headers['location']]).toEqual([
          status,
          'https://rex.test/a?b',
        ]);
        expect(answer.body.length > 0).toBe(method !== 'HEAD');
      }
    },
  );

  test('does not wait for the request body', async () => {
    const visit = { method: 'POST', body: 'name=Rex', headers: { 'Content-Length': '8' } };
    const answer = await edge.visit(protocol, 'www.rex.test', '/orders', visit);
    expect([answer.status, answer.headers['location']]).toEqual([308, 'https://rex.test/orders']);
  });

  test('to a host keeps the port that the visitor used', async () => {
    const { http, https } = edge.ports;
    const named = async (authority: string) => {
      const name = protocol === 'HTTP/2' ? ':authority' : 'Host';
      const visit = { headers: { [name]: authority } };
      return (await edge.visit(protocol, 'www.rex.test', '/a?b', visit)).headers['location'];
    };
    expect(await named(`www.rex.test:${https}`)).toBe(`https://rex.test:${https}/a?b`);
    expect(await named(`WWW.rex.test.:${https}`)).toBe(`https://rex.test:${https}/a?b`);
    for (const port of [443, http, 1]) {
      expect(await named(`www.rex.test:${port}`)).toBe('https://rex.test/a?b');
    }
    expect(await named('www.rex.test')).toBe('https://rex.test/a?b');
    await lead('https://other.test/shop');
    expect(await named(`www.rex.test:${https}`)).toBe('https://other.test/shop/a?b');
  });
});

describe('the target of a redirect', () => {
  test.each([
    '/',
    '/shop/dogs',
    '/a%20b/%2e%2e/%2F',
    '/a?b=c&d=%2F&e',
    '/?a=https://evil.test/?b',
    '//evil.test/a',
    '/@evil.test',
    '/..//',
  ])('includes %s, path and query of the request, unchanged', async (path) => {
    expect(await locationOf(path)).toBe(`https://rex.test${path}`);
  });

  test('includes everything that HTTP/2 allows in a path: letters of any language, and no line breaks', async () => {
    const session = await edge.session('www.rex.test');
    const { headers } = await requestIn(session, '/caf\xe9?\xff');
    expect(headers['location']).toBe('https://rex.test/caf\xe9?\xff');
    for (const path of ['/a\x7fb', '/a\tb', '/a b', '/a\x01b']) {
      await expect(requestIn(session, path)).rejects.toThrow('NGHTTP2_PROTOCOL_ERROR');
    }
    expect((await requestIn(session, '/')).status).toBe(308);
    session.close();
  });

  test.each([
    ['https://other.test', 'https://other.test/a?b=c'],
    ['https://other.test/shop', 'https://other.test/shop/a?b=c'],
    ['https://other.test/shop/', 'https://other.test/shop/a?b=c'],
    ['http://other.test:8080', 'http://other.test:8080/a?b=c'],
  ])('can be an external address: %s', async (to, location) => {
    await lead(to);
    expect(await locationOf('/a?b=c')).toBe(location);
  });

  test('serves its site without a redirect', async () => {
    const location = new URL(String(await locationOf('/')));
    const { status, body } = await edge.get(location.host, location.pathname);
    expect([status, String(body)]).toEqual([200, 'Rex']);
  });
});

describe('a host that redirects', () => {
  test('has its own certificate', async () => {
    const socket = await edge.connect('www.rex.test');
    expect(socket.getPeerCertificate().subjectaltname).toBe('DNS:www.rex.test');
    socket.destroy();
  });

  test('without a certificate is refused like an unknown name', async () => {
    await edge.removeCertificate('www.rex.test', now);
    await edge.routes.refresh();
    const code = 'ERR_SSL_TLSV1_UNRECOGNIZED_NAME';
    await expect(edge.connect('www.rex.test')).rejects.toHaveProperty('code', code);
    expect((await edge.get('rex.test', '/')).status).toBe(200);
  });

  test('is not served over the connection of another host', async () => {
    const answer = await edge.raw('rex.test', [
      'GET / HTTP/1.1',
      'Host: www.rex.test',
      'Connection: close',
    ]);
    expect(answer).toMatch(/^HTTP\/1\.1 421 /);
    expect(answer).not.toMatch(/\r\nLocation:/i);
  });

  test('redirects plain HTTP to its own HTTPS address first, whatever its status', async () => {
    await lead('https://other.test/shop', 302);
    const plain = (host: string) =>
      edge.plain(['GET /a?b HTTP/1.1', `Host: ${host}`, 'Connection: close']);
    const answer = await plain('www.rex.test');
    expect(answer).toMatch(/^HTTP\/1\.1 308 /);
    expect(answer).toContain('\r\nLocation: https://www.rex.test/a?b\r\n');
    const { http, https } = edge.ports;
    const location = `https://www.rex.test:${https}/a?b`;
    expect(await plain(`www.rex.test:${http}`)).toContain(`\r\nLocation: ${location}\r\n`);
  });

  test('can become a site and redirect again, even on open connections', async () => {
    const session = await edge.session('www.rex.test');
    const statuses = async () => [
      (await requestIn(session, '/')).status,
      (await edge.get('www.rex.test', '/')).status,
    ];
    expect(await statuses()).toEqual([308, 308]);
    await edge.setRoute({ name: 'www.rex.test', projectId, kind: 'site', deployId });
    await edge.routes.refresh();
    expect(await statuses()).toEqual([200, 200]);
    expect(String((await requestIn(session, '/')).body)).toBe('www');
    await lead('rex.test', 307);
    expect(await statuses()).toEqual([307, 307]);
    session.close();
  });

  test('needs no files, and works while the storage is unavailable', async () => {
    await edge.files.remove(deployId);
    edge.files.isAway = true;
    expect(await locationOf('/a')).toBe('https://rex.test/a');
  });

  test('answers many requests of one connection', async () => {
    const socket = await edge.connect('www.rex.test');
    const get = (path: string, end = '') =>
      `GET ${path} HTTP/1.1\r\nHost: www.rex.test\r\n${end}\r\n`;
    socket.write(get('/a') + get('/b') + get('/c', 'Connection: close\r\n'));
    const locations = (await text(socket)).match(/(?<=\r\nLocation: ).*(?=\r\n)/g);
    expect(locations).toEqual(['a', 'b', 'c'].map((path) => `https://rex.test/${path}`));
  });
});
