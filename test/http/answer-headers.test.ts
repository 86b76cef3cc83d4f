import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Answer, type Call, type RunningApi, startApi } from '../support/http/running-api.ts';
import { resolve } from '../support/http/documented-answers.ts';

const hsts = 'max-age=31536000';

describe.each([
  ['https://api.animal-store.test/v1', hsts],
  ['http://127.0.0.1:3000/v1', null],
])('at %s', (publicUrl, secure) => {
  let api: RunningApi;
  beforeAll(async () => {
    api = await startApi('sqlite', { settings: { PUBLIC_URL: publicUrl } });
  });
  afterAll(() => api.close());

  test.each([
    ['a list', '/v1/pets', {}],
    ['the document', '/v1/openapi.json', {}],
    ['a missing key', '/v1/pets', { key: null }],
    ['an unknown path', '/v1/nope', {}],
    ['a wrong verb', '/v1/pets', { method: 'DELETE' }],
    ['OPTIONS', '/v1/pets', { method: 'OPTIONS' }],
    ['HEAD', '/v1/pets', { method: 'HEAD' }],
    ['an invalid body', '/v1/pets', { method: 'POST', body: '{' }],
  ])('%s is never cached or sniffed', async (_, path, call) => {
    const { headers } = await api.send(path, call);
    expect(headers.get('Cache-Control')).toBe('no-store');
    expect(headers.get('X-Content-Type-Options')).toBe('nosniff');
    expect(headers.get('Strict-Transport-Security')).toBe(secure);
  });

  test('the files of the API reference may be cached', async () => {
    const { headers } = await api.send('/docs/reference.js');
    expect(headers.get('Cache-Control')).toBe('public, max-age=3600');
    expect(headers.get('X-Content-Type-Options')).toBe('nosniff');
  });
});

const shop = 'https://shop.example';
const allowed = ({ headers }: Answer): readonly string[] =>
  [...headers].filter(([name]) => name.startsWith('access-control-')).map(([name]) => name);

const calls: readonly (readonly [string, Call])[] = [
  ['/v1/pets', {}],
  ['/v1/pets', { key: null }],
  ['/v1/pets/abc', {}],
  ['/v1/pets?limit=0', {}],
  ['/v1/nope', {}],
  ['/v1/pets', { method: 'DELETE' }],
  ['/v1/pets', { method: 'POST', body: '{' }],
];
const preflight = {
  method: 'OPTIONS',
  key: null,
  headers: {
    Origin: shop,
    'Access-Control-Request-Method': 'POST',
    'Access-Control-Request-Headers': 'authorization,content-type,idempotency-key',
  },
};

describe('without CORS_ORIGINS', () => {
  let api: RunningApi;
  beforeAll(async () => {
    api = await startApi('sqlite');
  });
  afterAll(() => api.close());

  test('pages of other origins cannot read any answer', async () => {
    for (const [path, call] of [...calls, ['/v1/pets', preflight] as const]) {
      const answer = await api.send(path, { ...call, headers: { ...call.headers, Origin: shop } });
      expect(allowed(answer)).toEqual([]);
    }
  });
});

describe('with CORS_ORIGINS', () => {
  let api: RunningApi;
  beforeAll(async () => {
    const settings = { CORS_ORIGINS: `${shop}, http://localhost:5173` };
    api = await startApi('sqlite', { settings });
  });
  afterAll(() => api.close());

  test.each(calls)('a page of a listed origin may read the answer of %s %j', async (path, call) => {
    const { headers } = await api.send(path, { ...call, headers: { Origin: shop } });
    expect(headers.get('Access-Control-Allow-Origin')).toBe(shop);
    expect(headers.get('Vary')).toContain('Origin');
    expect(headers.has('Access-Control-Allow-Credentials')).toBe(false);
  });

  test('such a page may read the headers that the API documents', async () => {
    const { headers } = await api.send('/v1/pets', { headers: { Origin: shop } });
    const exposed = (headers.get('Access-Control-Expose-Headers') ?? '').toLowerCase().split(',');
    const documented = Object.values(api.document.paths)
      .flatMap((verbs) => Object.values(verbs))
      .flatMap(({ responses }) => Object.values(responses))
      .flatMap((response) => Object.keys(resolve(api.document, response).headers ?? {}))
      .filter((name) => name !== 'WWW-Authenticate');
    expect(exposed).toEqual(expect.arrayContaining(documented.map((name) => name.toLowerCase())));
  });

  test('a preflight needs no key and allows what a call needs', async () => {
    const { status, headers } = await api.send('/v1/pets', preflight);
    expect(status).toBe(204);
    expect(headers.get('Access-Control-Allow-Origin')).toBe(shop);
    expect(headers.get('Access-Control-Allow-Methods')?.split(',')).toEqual(
      expect.arrayContaining(['GET', 'POST']),
    );
    const names = headers.get('Access-Control-Allow-Headers')?.toLowerCase().split(',');
    expect(names).toEqual(['authorization', 'content-type', 'idempotency-key']);
  });

  test.each([
    'https://evil.example',
    'http://shop.example',
    'https://shop.example.evil.example',
    'null',
  ])('a page of %s can read nothing', async (origin) => {
    for (const call of [{}, preflight] as readonly Call[]) {
      const headers = { ...call.headers, Origin: origin };
      const answer = await api.send('/v1/pets', { ...call, headers });
      expect(allowed(answer)).toEqual([]);
      expect(answer.headers.get('Vary')).toContain('Origin');
    }
  });

  test('clients other than browsers are not affected', async () => {
    const answer = await api.send('/v1/pets');
    expect([answer.status, answer.headers.get('Access-Control-Allow-Origin')]).toEqual([200, null]);
  });
});
