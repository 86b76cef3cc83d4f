import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { emptyDatabase, type TestDatabase } from '../support/databases.ts';
import { startMysqlProxy, type MysqlProxy } from '../support/mysql-proxy.ts';
import { startApi, type Answer, type RunningApi } from '../support/running-api.ts';

/** The database itself would be waited for an hour: what is not held to this is never answered. */
const deadlineMs = 400;

let home: TestDatabase;
let proxy: MysqlProxy;
let api: RunningApi;
beforeAll(async () => {
  home = await emptyDatabase('mysql');
  proxy = await startMysqlProxy(home.url);
  api = await startApi('mysql', { databaseUrl: proxy.url, deadlineMs });
});
afterAll(async () => {
  await api.close();
  await proxy.stop();
  await home.drop();
});
afterEach(() => {
  proxy.recover();
  proxy.delayBy(0);
});

const post = (name: string): Promise<Answer> =>
  api.send('/v1/pets', {
    method: 'POST',
    body: JSON.stringify({ name, categoryId: 1 }),
    headers: { 'Idempotency-Key': name },
  });

const animalsCalled = async (name: string): Promise<number> => {
  const { text } = await api.send('/v1/pets?limit=100');
  return text.split(`"${name}"`).length - 1;
};

/** Of a request whose end nobody knows the database hears in its own time. */
const postUntilStored = async (name: string): Promise<void> => {
  for (;;) {
    const { status } = await post(name);
    if (status === 201) return;
    expect([409, 503]).toContain(status);
  }
};

const expectUnavailable = ({ status, body, headers }: Answer): void => {
  expect({ status, body }).toMatchObject({ status: 503, body: { code: 'service_unavailable' } });
  expect(headers.get('Retry-After')).toBe('1');
};

test('a slow database is waited for once for the whole request, not once for each question', async () => {
  await animalsCalled('nobody');
  proxy.delayBy(deadlineMs / 5);
  expectUnavailable(await post('slow'));
  proxy.delayBy(0);
  await postUntilStored('slow');
  expect(await animalsCalled('slow')).toBe(1);
});

describe.each(['statement', 'answer'] as const)('when one %s is lost', (what) => {
  test('POST is answered before its deadline whichever it is, and repeated it adds one animal', async () => {
    for (let before = 0; ; before++) {
      const name = `${before} before the lost ${what}`;
      proxy.loseAfter(before, what);
      const { status } = await post(name);
      const { hasLost } = proxy;
      expect({ name, status }).toEqual({ name, status: hasLost ? 503 : 201 });
      proxy.recover();
      await postUntilStored(name);
      expect({ name, animals: await animalsCalled(name) }).toEqual({ name, animals: 1 });
      if (!hasLost) break;
    }
  });
});
