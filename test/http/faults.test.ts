import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { ApiKeys, IdempotencyKeys } from '../../src/access/ports.ts';
import { Pets } from '../../src/catalogue/ports.ts';
import { Outbox } from '../../src/kernel/queue.ts';
import { Unavailable } from '../../src/kernel/ports.ts';
import { startApi, type RunningApi } from '../support/http/running-api.ts';

describe('a fault of the service', () => {
  let api: RunningApi;
  beforeAll(async () => {
    api = await startApi('sqlite');
  });
  afterAll(() => api.close());
  afterEach(() => void jest.restoreAllMocks());

  const away = () =>
    new Unavailable('The database', new Error('connect ECONNREFUSED 10.1.2.3:3306'));
  const body = '{"name":"Rex","categoryId":1}';

  test('that is unexpected answers 500 and does not reveal its cause', async () => {
    const cause = new Error('password=hunter2 in /srv/secret.ts');
    jest.spyOn(api.container.get(Pets), 'list').mockRejectedValue(cause);
    const answer = await api.send('/v1/pets');
    expect(answer.status).toBe(500);
    expect(answer.body).toMatchObject({ code: 'internal_error' });
    expect(answer.text).not.toMatch(/hunter2|secret|\.ts|at /);
  });

  test.each([undefined, null, 'text', 42, { status: 200, message: 'fine', expose: true }])(
    'answers 500 even when the thrown value is %j',
    async (thrown) => {
      jest.spyOn(api.container.get(Pets), 'find').mockRejectedValue(thrown);
      const answer = await api.send('/v1/pets/1');
      expect(answer.status).toBe(500);
      expect(answer.body).toMatchObject({ code: 'internal_error' });
    },
  );

  test('while the database is away answers 503 with Retry-After, and does not reveal its address', async () => {
    jest.spyOn(api.container.get(Pets), 'list').mockRejectedValue(away());
    const answer = await api.send('/v1/pets');
    expect(answer.status).toBe(503);
    expect(answer.body).toMatchObject({ code: 'service_unavailable' });
    expect(answer.headers.get('Retry-After')).toMatch(/^[1-9]\d*$/);
    expect(answer.text).not.toContain('10.1.2.3');
  });

  test('while keys are looked up answers 503 and not 401', async () => {
    jest.spyOn(api.container.get(ApiKeys), 'findBySecretHash').mockRejectedValue(away());
    expect((await api.send('/v1/pets')).status).toBe(503);
    expect((await api.send('/v1/pets', { key: 'mistyped' })).status).toBe(401);
  });

  test('leaves the idempotency key free, so that the request can be repeated', async () => {
    const headers = { 'Idempotency-Key': 'again' };
    const failing = jest.spyOn(api.container.get(Pets), 'add').mockRejectedValueOnce(away());
    expect((await api.send('/v1/pets', { method: 'POST', body, headers })).status).toBe(503);
    const repeated = await api.send('/v1/pets', { method: 'POST', body, headers });
    expect(repeated.status).toBe(201);
    expect(failing).toHaveBeenCalledTimes(2);
  });

  test('in the store of idempotency keys answers 503 to requests with a key, and adds nothing', async () => {
    const keys = api.container.get(IdempotencyKeys);
    jest.spyOn(keys, 'once').mockRejectedValue(away());
    const headers = { 'Idempotency-Key': 'away' };
    const before = (await api.send('/v1/pets')).text;
    expect((await api.send('/v1/pets', { method: 'POST', body, headers })).status).toBe(503);
    expect((await api.send('/v1/pets')).text).toBe(before);
  });

  test('does not affect the metrics', async () => {
    jest.spyOn(api.container.get(Outbox), 'state').mockRejectedValue(away());
    const { status, text } = await api.send('/metrics');
    expect(status).toBe(200);
    expect(text).toContain('http_request_duration_seconds');
    expect(text).not.toMatch(/^outbox_deliveries\{/m);
  });
});
