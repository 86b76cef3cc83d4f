import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { usualKinds, openDatabase } from '../support/servers/databases.ts';
import { startApi, type Answer, type RunningApi } from '../support/http/running-api.ts';

describe.each(usualKinds)('Idempotency-Key on %s', (kind) => {
  let api: RunningApi;
  beforeAll(async () => {
    api = await startApi(kind);
  });
  afterAll(() => api.close());

  let names = 0;
  const freshBody = () => `{"name":"Animal ${++names}","categoryId":9007199254740993}`;

  const post = (idempotencyKey: string, body: string, via = api, key = api.account.key) =>
    via.send('/v1/pets', {
      method: 'POST',
      key,
      body,
      headers: { 'Idempotency-Key': idempotencyKey },
    });

  const withName = async (body: string): Promise<number> => {
    const { name } = JSON.parse(body) as { name: string };
    const { text } = await api.send('/v1/pets?limit=100');
    return text.split(`"${name}"`).length - 1;
  };

  const untilAdded = async (idempotencyKey: string, body: string, via = api): Promise<Answer> => {
    for (let tries = 0; tries < 200; tries++) {
      const answer = await post(idempotencyKey, body, via, api.account.key);
      if (answer.status !== 409) return answer;
      expect(answer.body).toMatchObject({ code: 'idempotency_in_progress' });
      expect(answer.headers.get('Retry-After')).toBe('1');
    }
    throw new Error(`${idempotencyKey} stays in progress`);
  };

  test('repeats the first answer exactly and adds nothing', async () => {
    const body = freshBody();
    const first = await post('first', body);
    const again = await post('first', body);
    expect([first.status, again.status]).toEqual([201, 201]);
    expect(again.text).toBe(first.text);
    expect(again.headers.get('Location')).toBe(first.headers.get('Location'));
    expect([first, again].map(({ headers }) => headers.get('Idempotent-Replayed'))).toEqual([
      null,
      'true',
    ]);
    expect(again.headers.get('X-Request-Id')).not.toBe(first.headers.get('X-Request-Id'));
    expect(await withName(body)).toBe(1);
  });

  test('of a half-stored request is answered 409, and the request is not repeated', async () => {
    const body = freshBody();
    await post('half', body);
    const database = openDatabase(api.databaseUrl);
    await database.run((db) =>
      db
        .updateTable('idempotency_keys')
        .set({ answer: '' })
        .where('idempotency_key', '=', 'half')
        .execute(),
    );
    await database.close();
    const { status, body: error, headers } = await post('half', body);
    expect(status).toBe(409);
    expect(error).toMatchObject({
      code: 'idempotency_in_progress',
      message: expect.stringContaining('its outcome is not known') as unknown,
    });
    expect(headers.get('Retry-After')).toBe('86400');
    expect(await withName(body)).toBe(1);
  });

  test('with another body is refused, and the first answer stays', async () => {
    const body = freshBody();
    const first = await post('other body', body);
    const { status, body: error } = await post('other body', freshBody());
    expect(status).toBe(422);
    expect(error).toMatchObject({ code: 'idempotency_key_reused' });
    expect((await post('other body', body)).text).toBe(first.text);
  });

  test('of another account is a different key', async () => {
    const body = freshBody();
    const { key } = await api.newAccount();
    const [ours, theirs] = [await post('shared', body), await post('shared', body, api, key)];
    expect(theirs.status).toBe(201);
    expect(theirs.headers.has('Idempotent-Replayed')).toBe(false);
    expect(theirs.text).not.toBe(ours.text);
  });

  test('can be used again after a refused request', async () => {
    const refused = await post('refused', '{"name":"","categoryId":1}');
    expect(refused.status).toBe(400);
    expect((await post('refused', freshBody())).status).toBe(201);
  });

  test('is compared exactly, including case and trailing marks', async () => {
    const ids = ['case', 'CASE', 'Case', 'case.'].map(async (idempotencyKey) => {
      const { body } = await post(idempotencyKey, '{"name":"Rex","categoryId":1}');
      return (body as { id: bigint }).id;
    });
    expect(new Set(await Promise.all(ids)).size).toBe(4);
  });

  test.each([
    ['one character', 'x'],
    ['255 characters', 'x'.repeat(255)],
    ['any printable ASCII', '!~ "quoted" {}'],
    ['a path', '../../etc'],
    ['SQL', "' or '1'='1"],
  ])('may be %s', async (_, idempotencyKey) => {
    const body = freshBody();
    const answers = [await post(idempotencyKey, body), await post(idempotencyKey, body)];
    expect(answers.map(({ status }) => status)).toEqual([201, 201]);
    expect(await withName(body)).toBe(1);
  });

  test.each([
    ['256 characters', 'x'.repeat(256)],
    ['empty', ''],
    ['beyond ASCII', 'caf\u00e9'],
    ['with a control character', 'a\tb'],
  ])('may not be %s', async (_, idempotencyKey) => {
    const body = freshBody();
    const { status, body: error } = await post(idempotencyKey, body);
    expect(status).toBe(400);
    expect(error).toMatchObject({
      code: 'invalid_parameter',
      message: expect.stringMatching(/^Idempotency-Key must be 1 to 255/),
    });
    expect(await withName(body)).toBe(0);
  });

  test('adds one animal for twenty simultaneous requests', async () => {
    const body = freshBody();
    const answers = await Promise.all(Array.from({ length: 20 }, () => post('twenty', body)));
    expect(answers.every(({ status }) => status === 201 || status === 409)).toBe(true);
    expect(answers.some(({ status }) => status === 201)).toBe(true);
    const settled = await untilAdded('twenty', body);
    const added = answers.filter(({ status }) => status === 201);
    expect(new Set([...added, settled].map(({ text }) => text)).size).toBe(1);
    expect(await withName(body)).toBe(1);
  });
});

describe('Idempotency-Key over two processes', () => {
  // Two SQLite connections in one thread would block each other. test/system uses real processes.
  test('adds one animal for twenty simultaneous requests', async () => {
    const first = await startApi('mysql');
    const second = await startApi('mysql', { databaseUrl: first.databaseUrl });
    const body = '{"name":"Rex","categoryId":1}';
    const headers = { 'Idempotency-Key': 'both' };
    const { key } = first.account;
    const ask = (at: number) =>
      (at % 2 ? first : second).send('/v1/pets', { method: 'POST', key, body, headers });
    const answers = await Promise.all(Array.from({ length: 20 }, (_, at) => ask(at)));
    const settled = await ask(0);
    const { body: list } = await first.send('/v1/pets');
    await second.close();
    await first.close();
    expect(answers.filter(({ status }) => status !== 201 && status !== 409)).toEqual([]);
    expect(settled.headers.get('Idempotent-Replayed')).toBe('true');
    expect(list).toHaveLength(1);
  });
});
