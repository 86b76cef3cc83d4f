import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startApi, type RunningApi } from '../support/http/running-api.ts';

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
    ['a body that is none', '/v1/pets', { method: 'POST', body: '{' }],
  ])('%s is never cached or sniffed', async (_, path, call) => {
    const { headers } = await api.send(path, call);
    expect(headers.get('Cache-Control')).toBe('no-store');
    expect(headers.get('X-Content-Type-Options')).toBe('nosniff');
    expect(headers.get('Strict-Transport-Security')).toBe(secure);
  });

  test('the files of the reference may be cached', async () => {
    const { headers } = await api.send('/docs/reference.js');
    expect(headers.get('Cache-Control')).toBe('public, max-age=3600');
    expect(headers.get('X-Content-Type-Options')).toBe('nosniff');
  });
});
