import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { nextPage } from '../support/dashboard/dashboard-page.ts';
import { startApi, type RunningApi } from '../support/http/running-api.ts';

describe('a cursor', () => {
  let api: RunningApi;
  let page: string;
  let cursor: string;
  beforeAll(async () => {
    api = await startApi('sqlite');
    for (let at = 0; at < 4; at++) await api.add(`Animal ${at}`);
    page = nextPage(await api.send('/v1/pets?limit=2')) ?? '';
    cursor = new URLSearchParams(page.split('?')[1]).get('cursor') ?? '';
  });
  afterAll(() => api.close());

  const refusal = async (path: string, key?: string): Promise<unknown> => {
    const { status, body } = await api.send(path, key === undefined ? {} : { key });
    expect(status).toBe(400);
    return (body as { code: string }).code;
  };

  test('returns the same page each time it is used, with any limit', async () => {
    const [once, twice] = [await api.send(page), await api.send(page)];
    expect(once.body).toEqual(twice.body);
    const shorter = await api.send(`/v1/pets?limit=1&cursor=${cursor}`);
    expect(shorter.body).toEqual((once.body as unknown[]).slice(0, 1));
  });

  test('is refused with another filter', async () => {
    expect(await refusal(`${page}&status=available`)).toBe('invalid_cursor');
  });

  test('is refused in another list', async () => {
    expect(await refusal(`/v1/store/orders?cursor=${cursor}`)).toBe('invalid_cursor');
  });

  test('is refused for another account', async () => {
    const { key } = await api.newAccount();
    expect(await refusal(page, key)).toBe('invalid_cursor');
  });

  const [same, another] = [
    'a secret key for tests, long enough',
    'another secret key, also long enough',
  ];
  test.each([
    ['is accepted by another process with the same secret key', 200, { SECRET_KEY: same }],
    ['is refused by a service with another secret key', 400, { SECRET_KEY: another }],
    [
      'is accepted by a service that replaced the secret key and still knows the previous one',
      200,
      { SECRET_KEY: another, SECRET_KEY_PREVIOUS: same },
    ],
  ])('%s', async (_, wanted, settings) => {
    const other = await startApi('sqlite', { databaseUrl: api.databaseUrl, settings });
    const { status } = await other.send(page, { key: api.account.key });
    await other.close();
    expect(status).toBe(wanted);
  });
});
