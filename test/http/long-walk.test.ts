import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { AccessKey } from '../../src/app/keys.ts';
import { Database } from '../../src/adapters/kysely/database.ts';
import { databaseKinds } from '../support/servers/databases.ts';
import { publicUrl, startApi, type RunningApi } from '../support/http/running-api.ts';

/** Cursors are the same everywhere; what MySQL has to show is that pages of its own join on. */
const sizes = { sqlite: 100_000, mysql: 20_000 } as const;
const neighbours = 1000;

const fill = async (api: RunningApi, accountId: string, count: number): Promise<void> => {
  await api.container.get(Database).transaction(async (db) => {
    for (let first = 0; first < count; first += 1000) {
      const rows = Array.from({ length: 1000 }, (_, at) => ({
        account_id: accountId,
        name: `Animal ${first + at}`,
        category_id: 1n,
        status: at % 3 === 0 ? 'sold' : 'available',
        searched_name: `ANIMAL ${first + at}`,
      }));
      await db.insertInto('pets').values(rows).execute();
    }
  });
};

describe.each(databaseKinds)('a long walk on %s', (kind) => {
  const animals = sizes[kind];
  let api: RunningApi;
  beforeAll(async () => {
    api = await startApi(kind);
    const limits = { perMinute: 1_000_000, perDay: 1_000_000 };
    await api.container.get(AccessKey).setPlan(api.account.id, 'enterprise', { requests: limits });
    const other = await api.newAccount();
    await fill(api, api.account.id, animals / 2);
    await fill(api, other.id, neighbours);
    await fill(api, api.account.id, animals / 2);
  });
  afterAll(() => api.close());

  /** Follows `Link` as a client does, without looking at each answer in depth. */
  const walk = async (start: string): Promise<readonly number[]> => {
    const ids: number[] = [];
    const headers = { Authorization: `Bearer ${api.account.key}` };
    for (let next: string | undefined = start; next !== undefined;) {
      const answer: Response = await fetch(api.origin + next, { headers });
      expect(answer.status).toBe(200);
      ids.push(...((await answer.json()) as { id: number }[]).map(({ id }) => id));
      const link = /^<([^>]+)>; rel="next"$/.exec(answer.headers.get('Link') ?? '')?.[1];
      next = link?.replace(publicUrl, '/v1');
    }
    return ids;
  };

  test(`over ${String(animals)} animals by cursor meets each once, in order`, async () => {
    const ids = await walk('/v1/pets?limit=100');
    expect(ids).toHaveLength(animals);
    expect(new Set(ids).size).toBe(animals);
    expect(ids.every((id, at) => at === 0 || id > (ids[at - 1] ?? id))).toBe(true);
  });

  test('under a filter meets each animal of that status once', async () => {
    const ids = await walk('/v1/pets?limit=100&status=sold');
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids).toHaveLength((animals / 1000) * 334);
  });
});
