import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { usualKinds } from '../support/servers/databases.ts';
import { publicUrl, startApi, type RunningApi } from '../support/http/running-api.ts';

describe.each(usualKinds)('GET /pets/{petId} on %s', (kind) => {
  let api: RunningApi;
  let id: bigint;
  beforeAll(async () => {
    api = await startApi(kind);
    id = await api.add('Rex');
  });
  afterAll(() => api.close());

  test('returns the animal', async () => {
    const { status, body } = await api.send(`/v1/pets/${id}`);
    expect(status).toBe(200);
    expect(body).toEqual({ id, name: 'Rex', categoryId: 1n, status: 'available' });
  });

  test('accepts percent-encoded digits', async () => {
    const encoded = `%3${String(id)[0] ?? ''}${String(id).slice(1)}`;
    expect((await api.send(`/v1/pets/${encoded}`)).status).toBe(200);
  });

  test.each([
    ...['abc', '0', '-1', '+1', '1.0', '1e0', '0x1', '01', '1%20', '%201', '1_0', '%D9%A1'],
    ...['1%00', '%zz', '%', '%c0%ae', '1%2F2', 'NaN', '__proto__', "1'%20or%20'1'='1"],
    ...['999999999', '9223372036854775807', '9223372036854775808', '9'.repeat(40)],
  ])('does not find "%s"', async (wrong) => {
    const { status, body } = await api.send(`/v1/pets/${wrong}`);
    expect(status).toBe(404);
    expect(body).toMatchObject({ code: 'pet_not_found' });
  });

  test.each([
    '/v1/pets/',
    '/v1/pets//',
    '/v1/pets/1/',
    '/v1/pets/1/name',
    '/V1/pets/1',
    '/v1/Pets/1',
  ])('does not exist at the path %s', async (path) => {
    const { status, body } = await api.send(path);
    expect(status).toBe(404);
    expect(body).toMatchObject({ code: 'route_not_found' });
  });
});

describe('the removal of GET /pets/{petId}', () => {
  let api: RunningApi;
  let id: bigint;
  beforeAll(async () => {
    api = await startApi('sqlite');
    id = await api.add('Rex');
  });
  afterAll(() => api.close());

  const announced = {
    deprecation: '@1764892800',
    sunset: 'Thu, 05 Dec 2030 00:00:00 GMT',
    link: `<${publicUrl}/pets>; rel="successor-version"`,
  };

  test.each([
    ['200', () => api.send(`/v1/pets/${id}`)],
    ['200 to HEAD', () => api.send(`/v1/pets/${id}`, { method: 'HEAD' })],
    ['404', () => api.send('/v1/pets/abc')],
    ['401', () => api.send(`/v1/pets/${id}`, { key: null })],
    ['401', () => api.send(`/v1/pets/${id}`, { key: 'wrong' })],
    ['406', () => api.send(`/v1/pets/${id}`, { headers: { Accept: 'text/html' } })],
    [
      '403',
      async () => {
        const { secret } = await api.newKey({ scopes: ['pets:write'] });
        return api.send(`/v1/pets/${id}`, { key: secret });
      },
    ],
  ])('is announced with %s', async (status, ask) => {
    const answer = await ask();
    expect(String(answer.status)).toBe(status.slice(0, 3));
    expect(Object.fromEntries(answer.headers)).toMatchObject(announced);
  });

  test('is announced on no other operation', async () => {
    const { headers } = await api.send('/v1/pets');
    expect([headers.has('Deprecation'), headers.has('Sunset')]).toEqual([false, false]);
  });

  test('takes effect at the announced moment and not a millisecond earlier', async () => {
    const start = api.clock.now();
    api.clock.set(new Date('2030-12-04T23:59:59.999Z'));
    expect((await api.send(`/v1/pets/${id}`)).status).toBe(200);
    api.clock.set(new Date('2030-12-05T00:00:00.000Z'));
    const gone = await api.send(`/v1/pets/${id}`);
    const unknown = await api.send('/v1/pets/abc');
    const anonymous = await api.send(`/v1/pets/${id}`, { key: null });
    const list = await api.send('/v1/pets');
    api.clock.set(start);
    expect(gone.status).toBe(410);
    expect(gone.body).toEqual({
      code: 'operation_removed',
      message: expect.stringContaining(`Use GET ${publicUrl}/pets instead`),
      status: 410n,
    });
    expect(Object.fromEntries(gone.headers)).toMatchObject(announced);
    expect([unknown.status, anonymous.status, list.status]).toEqual([410, 401, 200]);
  });
});
