import { beforeEach, describe, expect, test } from '@jest/globals';
import { SettableClock } from '../../memory/settable-clock.ts';
import { catalogue, type Catalogue } from '../../../src/catalogue/catalogue.ts';
import type { Pet } from '../../../src/catalogue/domain/pet.ts';
import type { DomainEvent } from '../../../src/kernel/domain-event.ts';
import { memoryPorts } from '../../support/memory-ports.ts';

const now = new Date('2026-03-01T10:00:00Z');
const draft = { name: 'Rex', categoryId: 7n, status: 'available' } as const;
const page = { after: 0n, limit: 100 };

let face: Catalogue;
let clock: SettableClock;
let happened: () => readonly DomainEvent[];
let rex: Pet;
beforeEach(async () => {
  const { pets, orders, outbox } = memoryPorts();
  clock = new SettableClock(now);
  face = catalogue({ pets, orders, clock });
  happened = () => outbox.events;
  rex = await face.createPet('acct_1', draft);
});

const unknown = 9223372036854775807n;
const typesOf = (events: readonly DomainEvent[]) => events.map(({ type }) => type);

describe('creating an animal', () => {
  test('gives it an id and stores it with its event', async () => {
    const common = { accountId: 'acct_1', occurredAt: now };
    expect(rex).toEqual({ id: 1n, ...draft });
    expect(await face.getPet('acct_1', rex.id)).toEqual(rex);
    expect(happened()).toEqual([{ type: 'pet_added', ...common, petId: '1' }]);
  });

  test('is refused for a name that breaks the rules, and nothing is stored', async () => {
    const creating = face.createPet('acct_1', { ...draft, name: ' Rex' });
    await expect(creating).rejects.toHaveProperty('code', 'pet_invalid');
    expect(await face.listPets('acct_1', page)).toEqual([rex]);
  });
});

describe('getting an animal', () => {
  test.each([
    ['an id that nobody has', 'acct_1', unknown],
    ["another account's animal", 'acct_2', 1n],
  ])('is refused for %s, naming the id', async (_, account, id) => {
    const getting = face.getPet(account, id);
    await expect(getting).rejects.toMatchObject({ name: 'DomainError', code: 'pet_not_found' });
    await expect(getting).rejects.toThrow(`id ${String(id)} `);
  });
});

describe('selling an animal', () => {
  test('makes one order for today, unless told otherwise, and leaves the animal sold', async () => {
    const order = await face.placeOrder('acct_1', rex.id);
    expect(order).toEqual({ id: 1n, petId: 1n, quantity: 1, shipDate: now, status: 'placed' });
    expect(await face.listOrders('acct_1', page)).toEqual([order]);
    expect(await face.listPets('acct_1', page, 'sold')).toEqual([{ ...rex, status: 'sold' }]);
    expect(typesOf(happened())).toEqual(['pet_added', 'pet_sold']);
  });

  test('takes a quantity and a date', async () => {
    const terms = { quantity: 3, shipDate: new Date('2026-12-24T00:00:00Z') };
    expect(await face.placeOrder('acct_1', rex.id, terms)).toMatchObject(terms);
  });

  test('is possible for a reserved animal, but not twice', async () => {
    await face.changePet('acct_1', rex.id, 'reserve');
    await face.placeOrder('acct_1', rex.id);
    const again = face.placeOrder('acct_1', rex.id);
    await expect(again).rejects.toHaveProperty('code', 'pet_wrong_status');
    const release = face.changePet('acct_1', rex.id, 'release');
    await expect(release).rejects.toHaveProperty('code', 'pet_wrong_status');
    expect(await face.listOrders('acct_1', page)).toHaveLength(1);
  });

  test.each([
    ['a quantity of nothing', 'acct_1', 1n, { quantity: 0 }, 'order_invalid'],
    ["another account's animal", 'acct_2', 1n, {}, 'pet_not_found'],
    ['an id that nobody has', 'acct_1', unknown, {}, 'pet_not_found'],
  ])('is refused for %s, and nothing is stored', async (_, account, id, terms, code) => {
    await expect(face.placeOrder(account, id, terms)).rejects.toHaveProperty('code', code);
    expect(await face.getPet('acct_1', rex.id)).toEqual(rex);
    expect(await face.listOrders('acct_1', page)).toEqual([]);
    expect(typesOf(happened())).toEqual(['pet_added']);
  });
});

describe('an order', () => {
  test('is approved and delivered, each at its time', async () => {
    const { id } = await face.placeOrder('acct_1', rex.id);
    clock.advance(1000);
    expect(await face.changeOrder('acct_1', id, 'approve')).toMatchObject({ status: 'approved' });
    clock.advance(1000);
    expect(await face.changeOrder('acct_1', id, 'deliver')).toMatchObject({ status: 'delivered' });
    const times = happened().map((event) => event.occurredAt.getTime() - now.getTime());
    expect(times).toEqual([0, 0, 1000, 2000]);
  });

  test('of another account is not found, and an unapproved one is not delivered', async () => {
    const { id } = await face.placeOrder('acct_1', rex.id);
    const foreign = face.changeOrder('acct_2', id, 'approve');
    await expect(foreign).rejects.toHaveProperty('code', 'order_not_found');
    const early = face.changeOrder('acct_1', id, 'deliver');
    await expect(early).rejects.toHaveProperty('code', 'order_wrong_status');
  });
});

test('an animal is reserved and released', async () => {
  expect(await face.changePet('acct_1', rex.id, 'reserve')).toEqual({ ...rex, status: 'pending' });
  expect(await face.changePet('acct_1', rex.id, 'release')).toEqual(rex);
  expect(typesOf(happened())).toEqual(['pet_added', 'pet_reserved', 'pet_released']);
});
