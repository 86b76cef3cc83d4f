import { describe, expect, test } from '@jest/globals';
import { KyselyPets } from '../../../src/adapters/kysely/kysely-catalogue.ts';
import { petStatuses } from '../../../src/catalogue/domain/pet.ts';
import type { PetSearch } from '../../../src/catalogue/ports.ts';
import { databaseKinds } from '../../support/servers/databases.ts';
import { explainedDatabase, type ManyRows } from '../../support/servers/query-plans.ts';
import { mustNotBeUsed } from '../../support/strict-fake.ts';

const pets: ManyRows = {
  table: 'pets',
  columns: ['account_id', 'name', 'category_id', 'status', 'searched_name'],
  rows: Array.from({ length: 5000 }, (_, n) => [
    ...[n % 10 === 0 ? 'acct_2' : 'acct_1', `Rex ${n}`, 3 + (n % 2)],
    ...[petStatuses[n % 3] ?? 'sold', `REX ${n}`],
  ]),
};

/** The values of text parameters; all other parameters are numbers. */
const texts: Readonly<Record<string, string>> = {
  account_id: 'acct_1',
  status: 'sold',
  searched_name: 'REX 1',
};

describe.each(databaseKinds)('with thousands of animals, on %s', (kind) => {
  const explained = explainedDatabase(kind, [pets]);

  /** How the database reads the animals for each search. */
  const readsOf = async (
    searches: readonly Pick<PetSearch, 'order' | 'beginning'>[],
  ): Promise<readonly string[]> => {
    const store = new KyselyPets(explained.database, mustNotBeUsed('outbox'));
    for (const search of searches) {
      for (const status of [undefined, 'sold'] as const) {
        for (const categoryId of [undefined, 3n]) {
          for (const after of [undefined, { id: 500n, name: 'Rex 1' }]) {
            await store.search('acct_1', { ...search, status, categoryId, after, limit: 51 });
          }
        }
      }
    }
    const steps = await explained.steps((before) => {
      const [, column = ''] = /(\w+)\W+$/.exec(before) ?? [];
      return texts[column] ?? (before.endsWith('limit ') ? 51 : 500);
    });
    return steps.filter((step) => /\bpets\b/.test(step));
  };

  test('a search by id reads index ranges in that order', async () => {
    const reads = await readsOf([{ order: 'newest' }, { order: 'oldest' }]);
    expect(reads.length).toBeGreaterThan(20);
    for (const read of reads)
      expect(read).toMatch(/^(?!SCAN).*\bpets_by_(?:account|status|category)\b/);
  });

  test('a search by name reads index ranges in that order', async () => {
    const searches = [{ order: 'name' }, { order: 'newest', beginning: 'rex 1' }] as const;
    const reads = await readsOf(searches);
    expect(reads.length).toBeGreaterThan(30);
    for (const read of reads) expect(read).toMatch(/^(?!SCAN).*\bpets_by_(?:category_and_)?name\b/);
  });
});
