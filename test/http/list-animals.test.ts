import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { usualKinds } from '../support/servers/databases.ts';
import { nextPage, walk } from '../support/dashboard/dashboard-page.ts';
import { publicUrl, startApi, type RunningApi } from '../support/http/running-api.ts';

interface Row {
  readonly id: bigint;
  readonly name: string;
  readonly status: string;
}

describe.each(usualKinds)('GET /pets on %s', (kind) => {
  let api: RunningApi;
  const ids: bigint[] = [];
  const statuses = ['available', 'pending', 'sold'];
  beforeAll(async () => {
    api = await startApi(kind);
    for (let at = 0; at < 25; at++) {
      ids.push(await api.add(`Animal ${at}`, statuses[at % 3]));
    }
  });
  afterAll(() => api.close());

  const list = async (query: string): Promise<readonly Row[]> =>
    (await api.send(`/v1/pets${query}`)).body as readonly Row[];

  test('returns the animals in ascending order of id, twenty by default', async () => {
    expect((await list('')).map((row) => row.id)).toEqual(ids.slice(0, 20));
    expect((await list('?limit=100')).map((row) => row.id)).toEqual(ids);
  });

  test.each([
    ...['0', '101', '-1', '1.5', '1e1', 'ten', '', '%2B5', '٣', '0x10', '99999999999999999999'],
  ])('refuses a limit of "%s"', async (limit) => {
    const { status, body } = await api.send(`/v1/pets?limit=${limit}`);
    expect(status).toBe(400);
    expect(body).toMatchObject({
      code: 'invalid_parameter',
      message: expect.stringMatching(/^limit must be .*1 to 100/),
    });
  });

  test('names every invalid parameter', async () => {
    const { status, body } = await api.send('/v1/pets?limit=0&status=gone');
    expect(status).toBe(400);
    expect(body).toMatchObject({ message: expect.stringMatching(/limit must.*status must/) });
  });

  test('refuses a parameter that is given twice, because it is ambiguous', async () => {
    const { status, body } = await api.send('/v1/pets?limit=5&limit=6');
    expect(status).toBe(400);
    expect(body).toMatchObject({ code: 'invalid_parameter', message: 'limit must be given once.' });
  });

  test.each(['?unknown=1', '?__proto__=1', '?constructor=1&toString=2', '?limit%5B%5D=0'])(
    'ignores unknown parameters: %s',
    async (query) => {
      expect(await list(query)).toHaveLength(20);
    },
  );

  test.each(statuses)('filters by the status %s', async (status) => {
    const rows = await list(`?status=${status}&limit=100`);
    expect(rows.map((row) => row.id)).toEqual(ids.filter((_, at) => statuses[at % 3] === status));
    expect(new Set(rows.map((row) => row.status))).toEqual(new Set([status]));
  });

  test.each(['gone', '', 'AVAILABLE', 'available,sold', ' sold'])(
    'refuses the status "%s" and lists the valid ones',
    async (status) => {
      const { body, ...answer } = await api.send(`/v1/pets?status=${encodeURIComponent(status)}`);
      expect(answer.status).toBe(400);
      expect(body).toMatchObject({
        code: 'invalid_parameter',
        message: 'status must be one of "available", "pending", "sold".',
      });
    },
  );

  test.each(['?limit=7', '?limit=25', '?limit=24', '?limit=3&status=sold', '?limit=8&status=sold'])(
    'can be paged through %s by its links, with each animal once and in order',
    async (query) => {
      const pages = await walk<Row>(api, `/v1/pets${query}`);
      const limit = Number(/limit=(\d+)/.exec(query)?.[1]);
      const wanted = query.includes('sold') ? ids.filter((_, at) => at % 3 === 2) : ids;
      expect(pages.flat().map((row) => row.id)).toEqual(wanted);
      expect(pages.map((page) => page.length).slice(0, -1)).toEqual(
        pages.slice(1).map(() => limit),
      );
      expect(pages).toHaveLength(Math.ceil(wanted.length / limit));
    },
  );

  test('links to the next page at the public address, with limit and filter, except on the last page', async () => {
    const first = await api.send('/v1/pets?status=sold&limit=4');
    expect(first.headers.get('Link')).toMatch(
      new RegExp(`^<${publicUrl}/pets\\?limit=4&status=sold&cursor=[\\w.~-]+>; rel="next"$`),
    );
    const second = await api.send(nextPage(first) ?? '');
    expect(second.body).toHaveLength(4);
    expect(second.headers.has('Link')).toBe(false);
  });

  test('shows an animal that was added while paging, and skips none', async () => {
    const first = await api.send('/v1/pets?limit=20');
    const late = await api.add('Latecomer');
    const rest = await walk<Row>(api, nextPage(first) ?? '');
    expect(rest.flat().map((row) => row.id)).toEqual([...ids.slice(20), late]);
  });
});
