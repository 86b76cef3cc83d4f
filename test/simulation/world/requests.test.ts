import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startApi, type RunningApi } from '../../support/http/running-api.ts';
import { callApi } from './requests.ts';

let api: RunningApi;
let path: string;

beforeAll(async () => {
  api = await startApi('sqlite', { settings: { ROLES: 'api,dashboard' } });
  path = `/v1/pets/${String(await api.add('Rex'))}`;
});

afterAll(() => api.close());

/** Those of the service, not those of its listener. */
const comparable = (headers: Headers) => {
  const ofListener = ['connection', 'date', 'keep-alive'];
  const ofRequest = ['x-request-id', 'ratelimit', 'x-ratelimit-remaining'];
  return [...headers]
    .filter(([name]) => !ofListener.includes(name))
    .map(([name, value]) => (ofRequest.includes(name) ? [name] : [name, value]));
};

test.each([
  ['with a key', 200, () => api.account.key],
  ['without a key', 401, () => undefined],
])(
  'a call %s has the status and the headers of an answer by socket',
  async (_with, status, key) => {
    const secret = key();
    const called = await callApi(api.container, { path, ...(secret && { key: secret }) });
    const sent = await api.send(path, { key: secret ?? null });
    expect(called.status).toBe(status);
    expect(sent.status).toBe(status);
    expect(comparable(called.headers)).toEqual(comparable(sent.headers));
    expect(called.headers.get('RateLimit')).toMatch(/r=\d+/);
    expect(called.headers.get('X-RateLimit-Remaining')).toMatch(/^\d+$/);
    expect(called.body).toEqual(sent.body);
  },
);

test('each call counts against the account', async () => {
  const { key } = api.account;
  const left = async () => {
    const { headers } = await callApi(api.container, { path, key });
    return Number(headers.get('X-RateLimit-Remaining'));
  };
  const first = await left();
  expect(await left()).toBe(first - 1);
});

test('a body is read, and what it adds is there', async () => {
  const { key } = api.account;
  const body = JSON.stringify({ name: 'Tom', categoryId: 1, status: 'available' });
  const added = await callApi(api.container, { method: 'POST', path: '/v1/pets', key, body });
  expect(added.status).toBe(201);
  const { id } = added.body as { readonly id: bigint };
  const found = await callApi(api.container, { path: `/v1/pets/${String(id)}`, key });
  expect(found.body).toMatchObject({ name: 'Tom' });
});

test('a body that is too large is refused, and HEAD gets no body', async () => {
  const { key } = api.account;
  const body = `"${'x'.repeat(70_000)}"`;
  const refused = await callApi(api.container, { method: 'POST', path: '/v1/pets', key, body });
  expect(refused.status).toBe(413);
  const { status, text } = await callApi(api.container, { method: 'HEAD', path, key });
  expect([status, text]).toEqual([200, '']);
});

test('what Koa answers is answered too', async () => {
  const { status, body } = await callApi(api.container, { path: '/healthz' });
  expect([status, body]).toEqual([200, expect.anything()]);
});

test('visitors of the dashboard are sent to its sign-in page', async () => {
  const { status, headers } = await callApi(api.container, {
    path: '/dashboard/keys',
    headers: { accept: 'text/html' },
  });
  expect([status, headers.get('Location')]).toEqual([303, expect.stringContaining('sign-in')]);
});
