import { beforeEach, expect } from '@jest/globals';
import fc from 'fast-check';
import {
  addPet,
  deletePet,
  editPet,
  isPetName,
  largestInt64,
  petStatuses,
  releasePet,
  reservePet,
  searchedName,
  type Pet,
  type PetDraft,
} from '../../../src/catalogue/domain/pet.ts';
import { petOrders, type PetOrder, type PetSearch } from '../../../src/catalogue/ports.ts';
import { describeStores, test, testOnBoth } from '../../support/store-contracts.ts';
import { newAccount, now, takeEvents } from '../../support/accounts.ts';
import { race } from '../../support/race.ts';
import { refusal, refuse } from '../../support/refusal.ts';

const rex: PetDraft = { name: 'Rex', categoryId: 7n, status: 'available' };
const everything = { after: 0n, limit: 1000 };

/** Computes slowly what a search must find. */
const fittingIn = (
  all: readonly Pet[],
  { order, status, categoryId, beginning }: Omit<PetSearch, 'after' | 'limit'>,
): readonly Pet[] => {
  const fitting = all.filter(
    (pet) =>
      (status === undefined || pet.status === status) &&
      (categoryId === undefined || pet.categoryId === categoryId) &&
      searchedName(pet.name).startsWith(searchedName(beginning ?? '')),
  );
  if (order === 'name' || beginning !== undefined) return fitting.toSorted(byName);
  return order === 'newest' ? fitting.toReversed() : fitting;
};

const byName = (a: Pet, b: Pet): number => {
  const [first, second] = [a, b].map(({ name }) => Buffer.from(searchedName(name)));
  return Buffer.compare(first!, second!) || Number(a.id - b.id);
};

describeStores('animals', (stores) => {
  const { pets } = stores;
  let account: string;
  let stranger: string;
  beforeEach(async () => {
    account = await newAccount(stores);
    stranger = await newAccount(stores);
  });

  const add = (draft: PetDraft, owner = account): Promise<Pet> =>
    pets.add(owner, draft, (id) => addPet(owner, id, draft, now));
  const addMany = async (...statuses: readonly PetDraft['status'][]): Promise<readonly Pet[]> => {
    const added = [];
    for (const status of statuses) added.push(await add({ ...rex, status }));
    return added;
  };

  testOnBoth.each(petStatuses)('an animal that is %s is read back unchanged', async (status) => {
    const pet = await add({ ...rex, status });
    expect(pet).toEqual({ id: pet.id, ...rex, status });
    expect(await pets.find(account, pet.id)).toEqual(pet);
    expect(await pets.list(account, everything, undefined)).toEqual([pet]);
  });

  testOnBoth(
    'ids, category ids up to the last int64, and names in any script are stored exactly',
    async () => {
      const name = fc.string({ unit: 'binary', minLength: 1, maxLength: 255 }).filter(isPetName);
      const drafts = [
        ...fc.sample(fc.record({ name, categoryId: fc.bigInt(1n, largestInt64) }), 20),
        { name: '😀'.repeat(255), categoryId: largestInt64 },
        { name: `'; drop table "pets" -- \\ % _ \``, categoryId: 9007199254740993n },
      ];
      const added = [];
      for (const draft of drafts) added.push(await add({ ...draft, status: 'available' }));
      expect(added.map(({ name, categoryId }) => ({ name, categoryId }))).toEqual(drafts);
      expect(await pets.list(account, everything, undefined)).toEqual(added);
    },
  );

  testOnBoth(
    'names that differ only in case, accents, composition or a space at the end stay different',
    async () => {
      const names = ['Rex', 'rex', 'réx', 're\u0301x', 'rex ', 'rex\u00a0', 'ｒｅｘ'];
      const keep = (name: string) =>
        pets.add(account, { ...rex, name }, (id) => ({ state: { ...rex, id, name }, events: [] }));
      for (const name of names) await keep(name);
      const listed = await pets.list(account, everything, undefined);
      expect(listed.map((pet) => pet.name)).toEqual(names);
    },
  );

  testOnBoth(
    'pages are in ascending order of id, start after a given id and respect their limit',
    async () => {
      const all = await addMany('sold', 'available', 'pending', 'available', 'sold');
      expect(all).toEqual(all.toSorted((a, b) => (a.id < b.id ? -1 : 1)));
      expect(await pets.list(account, { after: 0n, limit: 2 }, undefined)).toEqual(all.slice(0, 2));
      const after = all[1]?.id ?? 0n;
      expect(await pets.list(account, { after, limit: 2 }, undefined)).toEqual(all.slice(2, 4));
      expect(await pets.list(account, { after: largestInt64, limit: 2 }, undefined)).toEqual([]);
    },
  );

  test('a page with a filter contains only animals of that status', async () => {
    const [first, , , fourth] = await addMany('available', 'sold', 'pending', 'available');
    expect(await pets.list(account, everything, 'available')).toEqual([first, fourth]);
    const after = first?.id ?? 0n;
    expect(await pets.list(account, { after, limit: 1 }, 'available')).toEqual([fourth]);
    expect(await pets.list(account, { after, limit: 0 }, 'available')).toEqual([]);
  });

  /** All pages of a search, concatenated. */
  const pagesOf = async (search: Omit<PetSearch, 'after'>): Promise<readonly Pet[]> => {
    const all: Pet[] = [];
    for (let after: Pet | undefined; ; after = all.at(-1)) {
      const page = await pets.search(account, { ...search, after });
      expect(page.length).toBeLessThanOrEqual(search.limit);
      if (page.length === 0) return all;
      all.push(...page);
      // Overlapping pages would never end.
      expect(all.length).toBeLessThan(1000);
    }
  };

  testOnBoth(
    'the pages of every search list each matching animal of the account once, in order',
    async () => {
      const words = [
        'Rex',
        'rex',
        'Réx',
        'REX II',
        'rexa',
        'Re',
        'ß',
        '\u{ffff}',
        '🐕',
        'Ｒｅｘ',
        'S S',
      ];
      const all: Pet[] = [];
      for (const [n, name] of [...words, ...words, ...words].entries()) {
        const status = petStatuses[n % 3] ?? 'sold';
        all.push(await add({ name, categoryId: n % 2 === 0 ? 7n : 8n, status }));
        await add({ name, categoryId: 7n, status }, stranger);
      }
      const beginnings = [undefined, 're', 'REX', 'rex i', 'ss', '\u{ffff}', '🐕', 'nobody'];
      for (const order of petOrders) {
        for (const status of [undefined, ...petStatuses]) {
          for (const categoryId of [undefined, 8n]) {
            for (const beginning of beginnings) {
              const search = { order, status, categoryId, beginning };
              expect(await pagesOf({ ...search, limit: 4 })).toEqual(fittingIn(all, search));
            }
          }
        }
      }
    },
  );

  test('a search continues after an animal that was deleted, and ends after the last one', async () => {
    const [first, second, third] = await addMany('available', 'available', 'available');
    await pets.remove(account, second!.id, () => []);
    const search = (order: PetOrder, after = second) =>
      pets.search(account, { order, after, limit: 9 });
    expect(await search('newest')).toEqual([first]);
    expect(await search('oldest')).toEqual([third]);
    expect(await search('name')).toEqual([third]);
    expect(await search('newest', first)).toEqual([]);
    expect(await pets.search(account, { order: 'newest', limit: 0 })).toEqual([]);
  });

  test("another account's animal is not listed, not found and not changed", async () => {
    const { id } = await add(rex);
    expect(await pets.list(stranger, everything, undefined)).toEqual([]);
    expect(await pets.find(stranger, id)).toBeUndefined();
    const change = pets.change(stranger, id, (pet) => reservePet(stranger, pet, now));
    await expect(change).rejects.toHaveProperty('code', 'pet_not_found');
    await expect(pets.remove(stranger, id, () => [])).rejects.toHaveProperty(
      'code',
      'pet_not_found',
    );
    expect(await pets.find(account, id)).toEqual({ id, ...rex });
  });

  test('an unknown id is not found and not changed', async () => {
    expect(await pets.find(account, largestInt64)).toBeUndefined();
    const change = pets.change(account, largestInt64, refuse);
    await expect(change).rejects.toHaveProperty('code', 'pet_not_found');
    const removal = pets.remove(account, largestInt64, refuse);
    await expect(removal).rejects.toHaveProperty('code', 'pet_not_found');
  });

  test('a removed animal is gone, and its event is stored; a refused removal changes nothing', async () => {
    const { id } = await add(rex);
    await takeEvents(stores);
    await expect(pets.remove(account, id, refuse)).rejects.toBe(refusal);
    await pets.remove(account, id, (pet) => deletePet(account, pet, now));
    expect(await pets.find(account, id)).toBeUndefined();
    const about = { accountId: account, occurredAt: now, petId: String(id), name: 'Rex' };
    expect(await takeEvents(stores)).toEqual([{ type: 'pet_deleted', ...about }]);
  });

  testOnBoth('a renamed animal is found by its new name, and not by the old one', async () => {
    const { id, categoryId } = await add(rex);
    const renamed = { name: 'Max', categoryId };
    await pets.change(account, id, (pet) => editPet(account, pet, renamed, now));
    const found = async (beginning: string) =>
      (await pets.search(account, { beginning, order: 'name', limit: 9 })).map((pet) => pet.id);
    expect([await found('max'), await found('rex')]).toEqual([[id], []]);
  });

  testOnBoth('many animals are added in order, each with its event, or none is added', async () => {
    const drafts = Array.from({ length: 601 }, (_, n) => ({ ...rex, name: `Rex ${n}` }));
    const addAll = (last: typeof addPet) =>
      pets.addAll(account, drafts, (id, draft) =>
        (draft === drafts.at(-1) ? last : addPet)(account, id, draft, now),
      );
    await takeEvents(stores);
    await expect(addAll(refuse)).rejects.toBe(refusal);
    expect(await pets.list(account, everything, undefined)).toEqual([]);
    expect(await takeEvents(stores)).toEqual([]);
    await Promise.all([addAll(addPet), add(rex, stranger), add(rex)]);
    const added = await pets.list(account, everything, undefined);
    const named = added.filter(({ name }) => name !== 'Rex');
    expect(named.map(({ name }) => name)).toEqual(drafts.map(({ name }) => name));
    const told = (await takeEvents(stores)).filter(({ accountId }) => accountId === account);
    const ids = told.map((event) => (event as unknown as { petId: string }).petId);
    expect(ids.toSorted()).toEqual(added.map(({ id }) => String(id)).toSorted());
  });

  test('a change stores the new state together with its events', async () => {
    const { id } = await add(rex);
    const reserved = await pets.change(account, id, (pet) => reservePet(account, pet, now));
    expect(reserved).toEqual({ id, ...rex, status: 'pending' });
    expect(await pets.find(account, id)).toEqual(reserved);
    await pets.change(account, id, (pet) => releasePet(account, pet, now));
    const common = { accountId: account, occurredAt: now, petId: String(id) };
    expect(await takeEvents(stores)).toEqual([
      { type: 'pet_added', ...common },
      { type: 'pet_reserved', ...common },
      { type: 'pet_released', ...common },
    ]);
  });

  test('looking up several animals returns each existing one of the account once', async () => {
    const [first, second, third] = await addMany('available', 'sold', 'pending');
    const strange = await add(rex, stranger);
    const ids = [third, first, strange, first].map((pet) => pet?.id ?? 0n);
    const found = await pets.findSome(account, [...ids, largestInt64]);
    expect(found.toSorted((a, b) => (a.id < b.id ? -1 : 1))).toEqual([first, third]);
    expect(await pets.findSome(account, [])).toEqual([]);
    expect(second).toBeDefined();
  });

  test('a change that fails stores nothing', async () => {
    const { id } = await add(rex);
    await takeEvents(stores);
    await expect(pets.add(account, rex, refuse)).rejects.toBe(refusal);
    await expect(pets.change(account, id, refuse)).rejects.toBe(refusal);
    expect(await pets.list(account, everything, undefined)).toEqual([{ id, ...rex }]);
    expect(await takeEvents(stores)).toEqual([]);
  });

  testOnBoth('twenty animals added at once get twenty different ids', async () => {
    const { won } = await race(20, (n) => add({ ...rex, name: `Rex ${String(n)}` }));
    expect(new Set(won.map((pet) => pet.id)).size).toBe(20);
    const byId = won.toSorted((a, b) => (a.id < b.id ? -1 : 1));
    expect(await pets.list(account, everything, undefined)).toEqual(byId);
  });

  testOnBoth('exactly one of twenty concurrent requests reserves an animal', async () => {
    const { id } = await add(rex);
    await takeEvents(stores);
    const processes = [stores.pets, stores.secondProcess.pets];
    const { won, lost } = await race(20, (n) =>
      (processes[n % 2] ?? pets).change(account, id, (pet) => reservePet(account, pet, now)),
    );
    expect(won).toHaveLength(1);
    expect(lost).toEqual(Array(19).fill('pet_wrong_status'));
    expect(await takeEvents(stores)).toHaveLength(1);
  });
});
