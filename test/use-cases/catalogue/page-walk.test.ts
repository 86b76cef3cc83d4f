import { beforeEach, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  Cursors,
  pageOf,
  presentPage,
  type CursorScope,
} from '../../../src/adapters/http/operations/cursors.ts';
import { queryReader } from '../../../src/adapters/http/operations/request-input.ts';
import { ListPetsQuery } from '../../../src/adapters/http/operations/schemas.ts';
import {
  addPet,
  petStatuses,
  type Pet,
  type PetStatus,
} from '../../../src/catalogue/domain/pet.ts';
import type { Pets } from '../../../src/catalogue/ports.ts';
import { newAccount } from '../../support/accounts.ts';
import type { Stores } from '../../support/stores.ts';
import { storesOfTests } from '../../support/stores-of-tests.ts';

const open = storesOfTests();
let stores: Stores;
let pets: Pets;
beforeEach(async () => {
  stores = await open();
  ({ pets } = stores);
});

const now = new Date('2026-03-01T10:00:00Z');
const address = 'https://api.shop.example/v1/pets';
const cursors = new Cursors([new Uint8Array(32)]);
const readQuery = queryReader(ListPetsQuery);

const add = (owner: string, status: PetStatus): Promise<Pet> => {
  const draft = { name: 'Rex', categoryId: 7n, status };
  return pets.add(owner, draft, (id) => addPet(owner, id, draft, now));
};

/** One page for one address, as the list of animals answers it. */
const visit = async (accountId: string, url: string) => {
  const query = readQuery(new URL(url).search.slice(1));
  const { status } = query;
  const scope: CursorScope = { list: 'pets', accountId, filter: status ?? '' };
  const found = await pets.list(accountId, pageOf(cursors, scope, query), status);
  const { rows, headers } = presentPage(
    cursors,
    scope,
    query,
    found,
    address,
    status && `&status=${status}`,
  );
  const next = /^<([^>]+)>; rel="next"$/.exec(headers['Link'] ?? '')?.[1];
  expect(Object.keys(headers)).toEqual(next === undefined ? [] : ['Link']);
  return { rows, next };
};

const status = fc.constantFrom(...petStatuses);
const herd = fc.array(
  fc.record({ owner: fc.constantFrom('mine' as const, 'theirs' as const), status }),
  {
    maxLength: 60,
  },
);
const startOf = (limit: number, filter: PetStatus | undefined) =>
  `${address}?limit=${String(limit)}${filter ? `&status=${filter}` : ''}`;

test('walking the pages shows each animal once, in order, while others are added meanwhile', async () => {
  const limit = fc.oneof(fc.integer({ min: 1, max: 100 }), fc.integer({ min: 1, max: 5 }));
  const filter = fc.option(status, { nil: undefined });
  await fc.assert(
    fc.asyncProperty(herd, herd, limit, filter, async (before, meanwhile, size, wanted) => {
      const owners = { mine: await newAccount(stores), theirs: await newAccount(stores) };
      const { mine } = owners;
      for (const one of before) await add(owners[one.owner], one.status);
      const coming = meanwhile.values();
      const seen: Pet[] = [];
      let last: readonly Pet[] = [];
      for (let url: string | undefined = startOf(size, wanted); url !== undefined;) {
        const there = await pets.list(mine, { after: 0n, limit: 1000 }, wanted);
        const page = await visit(mine, url);
        expect(page.rows.length).toBeLessThanOrEqual(size);
        if (page.next !== undefined) expect(page.rows).toHaveLength(size);
        seen.push(...page.rows);
        [url, last] = [page.next, there];
        const { value: born } = coming.next();
        if (born) await add(owners[born.owner], born.status);
      }
      expect(seen).toEqual(last);
    }),
    { numRuns: 60 },
  );
});

test.each([0, 1, 19, 20, 21])(
  'a list of %d animals has a next page only when there are more',
  async (n) => {
    const mine = await newAccount(stores);
    for (let count = 0; count < n; count++) await add(mine, 'available');
    const { rows, next } = await visit(mine, startOf(20, undefined));
    expect(rows).toHaveLength(Math.min(n, 20));
    expect(next !== undefined).toBe(n > 20);
  },
);

test('the address of the next page keeps limit and filter and is refused with another filter', async () => {
  const mine = await newAccount(stores);
  for (let count = 0; count < 3; count++) await add(mine, 'sold');
  const { next = '' } = await visit(mine, startOf(2, 'sold'));
  const query = new URL(next).searchParams;
  expect([...query.keys()]).toEqual(['limit', 'status', 'cursor']);
  expect([query.get('limit'), query.get('status')]).toEqual(['2', 'sold']);
  const other = visit(mine, next.replace('status=sold', 'status=pending'));
  await expect(other).rejects.toHaveProperty('code', 'invalid_cursor');
});
