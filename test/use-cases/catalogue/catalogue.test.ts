import { beforeEach, describe, expect, test } from '@jest/globals';
import { SettableClock } from '../../support/settable-clock.ts';
import { catalogue, type Catalogue } from '../../../src/catalogue/catalogue.ts';
import type { Pet } from '../../../src/catalogue/domain/pet.ts';
import type { PetSearch } from '../../../src/catalogue/ports.ts';
import type { DomainEvent } from '../../../src/kernel/decision.ts';
import { newAccount } from '../../support/accounts.ts';
import { storesOfTests } from '../../support/stores-of-tests.ts';

const now = new Date('2026-03-01T10:00:00Z');
const draft = { name: 'Rex', categoryId: 7n, status: 'available' } as const;
const page = { after: 0n, limit: 100 };

const open = storesOfTests();
let mine: string;
let theirs: string;
let face: Catalogue;
let clock: SettableClock;
let happened: () => Promise<readonly DomainEvent[]>;
let rex: Pet;
beforeEach(async () => {
  const stores = await open();
  const { pets, orders } = stores;
  [mine, theirs] = [await newAccount(stores), await newAccount(stores)];
  const { length: before } = await stores.events();
  clock = new SettableClock(now);
  face = catalogue({ pets, orders, clock });
  happened = async () => (await stores.events()).slice(before);
  rex = await face.createPet(mine, draft);
});
const typesOf = (events: readonly DomainEvent[]) => events.map(({ type }) => type);

describe('creating an animal', () => {
  test('gives it an id and stores it with its event', async () => {
    const common = { accountId: mine, occurredAt: now };
    expect(rex).toEqual({ id: 1n, ...draft });
    expect(await face.getPet(mine, rex.id)).toEqual(rex);
    expect(await happened()).toEqual([{ type: 'pet_added', ...common, petId: '1' }]);
  });
});

describe('selling an animal', () => {
  test('selling creates one order for today, unless another date is given, and the animal is sold', async () => {
    const order = await face.placeOrder(mine, rex.id);
    expect(order).toEqual({ id: 1n, petId: 1n, quantity: 1, shipDate: now, status: 'placed' });
    expect(await face.listOrders(mine, page)).toEqual([order]);
    expect(await face.listPets(mine, page, 'sold')).toEqual([{ ...rex, status: 'sold' }]);
    expect(typesOf(await happened())).toEqual(['pet_added', 'pet_sold']);
  });

  test('is possible for a reserved animal, but not twice', async () => {
    await face.changePet(mine, rex.id, 'reserve');
    await face.placeOrder(mine, rex.id);
    const again = face.placeOrder(mine, rex.id);
    await expect(again).rejects.toHaveProperty('code', 'pet_wrong_status');
    const release = face.changePet(mine, rex.id, 'release');
    await expect(release).rejects.toHaveProperty('code', 'pet_wrong_status');
    expect(await face.listOrders(mine, page)).toHaveLength(1);
  });
});

describe('an order', () => {
  test('is approved and delivered, each with its time', async () => {
    const { id } = await face.placeOrder(mine, rex.id);
    clock.advance(1000);
    expect(await face.changeOrder(mine, id, 'approve')).toMatchObject({ status: 'approved' });
    clock.advance(1000);
    expect(await face.changeOrder(mine, id, 'deliver')).toMatchObject({ status: 'delivered' });
    const times = (await happened()).map((event) => event.occurredAt.getTime() - now.getTime());
    expect(times).toEqual([0, 0, 1000, 2000]);
  });

  test('of another account is not found, and an unapproved one is not delivered', async () => {
    const { id } = await face.placeOrder(mine, rex.id);
    const foreign = face.changeOrder(theirs, id, 'approve');
    await expect(foreign).rejects.toHaveProperty('code', 'order_not_found');
    const early = face.changeOrder(mine, id, 'deliver');
    await expect(early).rejects.toHaveProperty('code', 'order_wrong_status');
  });
});

test('an animal can be edited, and deleted unless it is sold', async () => {
  const max = { name: 'Max', categoryId: 8n };
  for (const edited of [await face.editPet(mine, 1n, max), await face.editPet(mine, 1n, max)]) {
    expect(edited).toEqual({ ...rex, ...max });
  }
  await expect(face.editPet(theirs, 1n, max)).rejects.toHaveProperty('code', 'pet_not_found');
  await expect(face.deletePet(theirs, 1n)).rejects.toHaveProperty('code', 'pet_not_found');
  await face.deletePet(mine, 1n);
  await expect(face.getPet(mine, 1n)).rejects.toHaveProperty('code', 'pet_not_found');
  const { id } = await face.createPet(mine, draft);
  const order = await face.placeOrder(mine, id);
  await expect(face.deletePet(mine, id)).rejects.toHaveProperty('code', 'pet_wrong_status');
  expect(await face.orderOf(mine, id)).toEqual(order);
  await expect(face.getOrder(theirs, order.id)).rejects.toHaveProperty('code', 'order_not_found');
  expect(typesOf(await happened()).slice(0, 3)).toEqual([
    'pet_added',
    'pet_changed',
    'pet_deleted',
  ]);
});

test('a search for a number finds the animal with that id first, if the filter matches', async () => {
  await face.createPets(mine, [
    { ...draft, name: '1st' },
    { ...draft, name: '12 Monkeys', status: 'sold' },
    { ...draft, name: '7 Seas' },
  ]);
  const search = (beginning: string, more: Partial<PetSearch> = {}) =>
    face.searchPets(mine, { beginning, order: 'newest', limit: 9, ...more });
  const found = async (...asked: Parameters<typeof search>) =>
    (await search(...asked)).map(({ id }) => id);
  expect(await found('1')).toEqual([1n, 3n, 2n]);
  expect(await found('1', { limit: 2 })).toEqual([1n, 3n]);
  expect(await found('3')).toEqual([3n]);
  expect(await found('#3')).toEqual([3n]);
  expect(await found('1', { status: 'sold' })).toEqual([3n]);
  expect(await found('4', { categoryId: 9n })).toEqual([]);
  expect(await found('1', { after: { id: 3n, name: '12 Monkeys' } })).toEqual([2n]);
  expect(await face.searchPets(theirs, { beginning: '1', order: 'newest', limit: 9 })).toEqual([]);
});

test('one invalid animal among many prevents adding all of them', async () => {
  const adding = face.createPets(mine, [draft, { ...draft, name: '' }, draft]);
  await expect(adding).rejects.toHaveProperty('code', 'pet_invalid');
  expect(await face.listPets(mine, page)).toEqual([rex]);
  expect(await happened()).toHaveLength(1);
});
