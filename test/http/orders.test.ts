import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { CatalogueKey } from '../../src/app/keys.ts';
import type { Catalogue } from '../../src/catalogue/catalogue.ts';
import { usualKinds } from '../support/servers/databases.ts';
import { nextPage, walk } from '../support/dashboard/dashboard-page.ts';
import { publicUrl, startApi, type RunningApi } from '../support/http/running-api.ts';

interface Row {
  readonly id: bigint;
  readonly petId: bigint;
}

describe.each(usualKinds)('GET /store/orders on %s', (kind) => {
  let api: RunningApi;
  let catalogue: Catalogue;
  const sold: bigint[] = [];
  beforeAll(async () => {
    api = await startApi(kind, { now: new Date('2027-03-01T12:00:00.250Z') });
    catalogue = api.container.get(CatalogueKey);
    for (let at = 0; at < 7; at++) {
      const pet = await api.add(`Animal ${at}`);
      await catalogue.placeOrder(api.account.id, pet, { quantity: at + 1 });
      sold.push(pet);
    }
  });
  afterAll(() => api.close());

  const orders = async (query = ''): Promise<readonly Row[]> =>
    (await api.send(`/v1/store/orders${query}`)).body as readonly Row[];

  test('contains an order for each sold animal, with exactly its six fields', async () => {
    const [first] = await orders('?limit=1');
    expect(first).toEqual({
      id: first?.id,
      petId: sold[0],
      quantity: 1n,
      shipDate: '2027-03-01T12:00:00.250Z',
      status: 'placed',
      complete: false,
    });
    expect(Object.keys(first ?? {})).toEqual(
      'id petId quantity shipDate status complete'.split(' '),
    );
  });

  test('is in ascending order of id, and the animals are sold', async () => {
    const rows = await orders();
    expect(rows.map((row) => row.petId)).toEqual(sold);
    expect(rows.map((row) => row.id)).toEqual(
      rows.map((row) => row.id).toSorted((a, b) => (a < b ? -1 : 1)),
    );
    const { body } = await api.send('/v1/pets?status=sold');
    expect((body as Row[]).map((row) => row.id)).toEqual(sold);
  });

  test('shows each state of an order until it is delivered, which completes it', async () => {
    const { id = 0n } = (await orders()).at(-1) ?? {};
    await catalogue.changeOrder(api.account.id, id, 'approve');
    expect((await orders()).at(-1)).toMatchObject({ id, status: 'approved', complete: false });
    await catalogue.changeOrder(api.account.id, id, 'deliver');
    expect((await orders()).at(-1)).toMatchObject({ id, status: 'delivered', complete: true });
  });

  test('shows the shipping date and quantity that were ordered', async () => {
    const pet = await api.add('To ship');
    const shipDate = new Date('2099-12-31T23:59:59.999Z');
    await catalogue.placeOrder(api.account.id, pet, { quantity: 2147483647, shipDate });
    expect((await orders()).at(-1)).toMatchObject({
      quantity: 2147483647n,
      shipDate: shipDate.toISOString(),
    });
    sold.push(pet);
  });

  test.each([1, 3, 8])('can be read in pages of %s by its links', async (limit) => {
    const pages = await walk<Row>(api, `/v1/store/orders?limit=${limit}`);
    expect(pages.flat().map((row) => row.petId)).toEqual(sold);
    expect(pages).toHaveLength(Math.ceil(sold.length / limit));
  });

  test('links to the public address', async () => {
    const answer = await api.send('/v1/store/orders?limit=2');
    expect(answer.headers.get('Link')).toMatch(
      new RegExp(`^<${publicUrl}/store/orders\\?limit=2&cursor=[\\w.~-]+>; rel="next"$`),
    );
    const { key } = await api.newAccount();
    const { status, body } = await api.send(nextPage(answer) ?? '', { key });
    expect(status).toBe(400);
    expect(body).toMatchObject({ code: 'invalid_cursor' });
  });

  test('needs the scope orders:read', async () => {
    const { secret } = await api.newKey({ scopes: ['pets:read', 'pets:write'] });
    const { status, body } = await api.send('/v1/store/orders', { key: secret });
    expect(status).toBe(403);
    expect(body).toMatchObject({
      code: 'insufficient_scope',
      message: expect.stringContaining('orders:read'),
    });
  });
});
