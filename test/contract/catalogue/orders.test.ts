import { beforeEach, expect } from '@jest/globals';
import {
  approveOrder,
  deliverOrder,
  largestQuantity,
  sellPet,
  type Order,
} from '../../../src/catalogue/domain/order.ts';
import { addPet, largestInt64, type Pet } from '../../../src/catalogue/domain/pet.ts';
import { newAccount, now, takeEvents } from '../../support/accounts.ts';
import { race } from '../../support/race.ts';
import { refusal, refuse } from '../../support/refusal.ts';
import { describeStores, test, testOnBoth } from '../../support/store-contracts.ts';

const everything = { after: 0n, limit: 1000 };
const terms = { quantity: 1, shipDate: new Date('2026-12-24T18:00:00.001Z') };

describeStores('orders', (stores) => {
  const { orders } = stores;
  let account: string;
  let stranger: string;
  let rex: Pet;
  beforeEach(async () => {
    account = await newAccount(stores);
    stranger = await newAccount(stores);
    rex = await addRex();
    await takeEvents(stores);
  });

  const addRex = (): Promise<Pet> => {
    const draft = { name: 'Rex', categoryId: 7n, status: 'available' } as const;
    return stores.pets.add(account, draft, (id) => addPet(account, id, draft, now));
  };
  const sell = (petId = rex.id, owner = account, its = terms, through = orders): Promise<Order> =>
    through.place(owner, petId, (pet) => sellPet(owner, pet, its, now));
  const approve = (id: bigint, owner = account, through = orders): Promise<Order> =>
    through.change(owner, id, (order) => approveOrder(owner, order, now));
  const deliver = (id: bigint): Promise<Order> =>
    orders.change(account, id, (order) => deliverOrder(account, order, now));

  testOnBoth(
    'an order is read back unchanged once it is placed, approved and delivered',
    async () => {
      const placed = await sell();
      const { id } = placed;
      expect(placed).toEqual({ id, petId: rex.id, ...terms, status: 'placed' });
      expect(await orders.list(account, everything)).toEqual([placed]);
      for (const [step, status] of [
        [approve, 'approved'] as const,
        [deliver, 'delivered'] as const,
      ]) {
        expect(await step(id)).toEqual({ ...placed, status });
        expect(await orders.list(account, everything)).toEqual([{ ...placed, status }]);
        expect(await orders.find(account, id)).toEqual({ ...placed, status });
        expect(await orders.findOf(account, rex.id)).toEqual({ ...placed, status });
      }
    },
  );

  testOnBoth.each([
    { quantity: largestQuantity, shipDate: new Date(8.64e15) },
    { quantity: 2, shipDate: new Date(-1) },
  ])('extreme values are read back exactly: $quantity for $shipDate', async (extreme) => {
    const placed = await sell(rex.id, account, extreme);
    expect(placed).toMatchObject(extreme);
    expect(await orders.list(account, everything)).toEqual([placed]);
  });

  test('a sale stores the animal, the order and the events together', async () => {
    const { id, petId } = await sell();
    await approve(id);
    await deliver(id);
    expect(await stores.pets.find(account, petId)).toEqual({ ...rex, status: 'sold' });
    const common = { accountId: account, occurredAt: now };
    expect(await takeEvents(stores)).toEqual([
      { type: 'pet_sold', ...common, petId: String(petId) },
      { type: 'order_approved', ...common, orderId: String(id) },
      { type: 'order_delivered', ...common, orderId: String(id) },
    ]);
  });

  testOnBoth(
    'pages are in ascending order of id, start after a given id and respect their limit',
    async () => {
      const all: Order[] = [];
      for (let n = 0; n < 4; n++) all.push(await sell((await addRex()).id));
      expect(all).toEqual(all.toSorted((a, b) => (a.id < b.id ? -1 : 1)));
      expect(await orders.list(account, { after: 0n, limit: 3 })).toEqual(all.slice(0, 3));
      const after = all[0]?.id ?? 0n;
      expect(await orders.list(account, { after, limit: 2 })).toEqual(all.slice(1, 3));
      expect(await orders.list(account, { after: largestInt64, limit: 2 })).toEqual([]);
    },
  );

  testOnBoth(
    'backward pages are in descending order of id, start before a given id and respect their limit',
    async () => {
      const all: Order[] = [];
      for (let n = 0; n < 4; n++) all.push(await sell((await addRex()).id));
      const back = all.toReversed();
      const newest = (before: bigint | undefined, limit = 2, owner = account) =>
        orders.newest(owner, { before, limit }, undefined);
      expect(await newest(undefined, 1000)).toEqual(back);
      expect(await newest(undefined)).toEqual(back.slice(0, 2));
      expect(await newest(back[0]?.id)).toEqual(back.slice(1, 3));
      expect(await newest(largestInt64)).toEqual(back.slice(0, 2));
      expect(await newest(all[0]?.id)).toEqual([]);
      expect(await newest(undefined, 1000, stranger)).toEqual([]);
    },
  );

  test('a backward page with a filter contains only orders of that status', async () => {
    const all: Order[] = [];
    for (let n = 0; n < 4; n++) all.push(await sell((await addRex()).id));
    const [first, , third] = all.map(({ id }) => id);
    const approved = [await approve(third!), await approve(first!)];
    const newest = (before: bigint | undefined, limit = 1000) =>
      orders.newest(account, { before, limit }, 'approved');
    expect(await newest(undefined)).toEqual(approved);
    expect(await newest(undefined, 1)).toEqual(approved.slice(0, 1));
    expect(await newest(third)).toEqual(approved.slice(1));
    expect(await newest(first)).toEqual([]);
    const delivered = { before: undefined, limit: 1000 };
    expect(await orders.newest(account, delivered, 'delivered')).toEqual([]);
  });

  test("another account's animal cannot be sold", async () => {
    await expect(sell(rex.id, stranger)).rejects.toHaveProperty('code', 'pet_not_found');
    expect(await stores.pets.find(account, rex.id)).toEqual(rex);
    expect(await orders.list(stranger, everything)).toEqual([]);
    expect(await takeEvents(stores)).toEqual([]);
  });

  test("another account's order is not listed and not changed", async () => {
    const placed = await sell();
    expect(await orders.list(stranger, everything)).toEqual([]);
    expect(await orders.find(stranger, placed.id)).toBeUndefined();
    expect(await orders.findOf(stranger, rex.id)).toBeUndefined();
    await expect(approve(placed.id, stranger)).rejects.toHaveProperty('code', 'order_not_found');
    expect(await orders.list(account, everything)).toEqual([placed]);
  });

  test('an unknown animal cannot be sold, and an unknown order cannot be changed', async () => {
    const sale = orders.place(account, largestInt64, refuse);
    await expect(sale).rejects.toHaveProperty('code', 'pet_not_found');
    const change = orders.change(account, largestInt64, refuse);
    await expect(change).rejects.toHaveProperty('code', 'order_not_found');
  });

  test('a change that fails stores nothing', async () => {
    await expect(orders.place(account, rex.id, refuse)).rejects.toBe(refusal);
    expect(await stores.pets.find(account, rex.id)).toEqual(rex);
    expect(await orders.list(account, everything)).toEqual([]);
    expect(await takeEvents(stores)).toEqual([]);

    const placed = await sell();
    await takeEvents(stores);
    await expect(orders.change(account, placed.id, refuse)).rejects.toBe(refusal);
    expect(await orders.list(account, everything)).toEqual([placed]);
    expect(await takeEvents(stores)).toEqual([]);
  });

  testOnBoth('exactly one of twenty concurrent buyers gets an animal', async () => {
    const processes = [stores.orders, stores.secondProcess.orders];
    const { won, lost } = await race(20, (n) => sell(rex.id, account, terms, processes[n % 2]));
    expect(won).toHaveLength(1);
    expect(lost).toEqual(Array(19).fill('pet_wrong_status'));
    expect(await orders.list(account, everything)).toEqual(won);
    expect(await takeEvents(stores)).toHaveLength(1);
  });

  testOnBoth('exactly one of twenty concurrent approvals of an order succeeds', async () => {
    const { id } = await sell();
    await takeEvents(stores);
    const processes = [stores.orders, stores.secondProcess.orders];
    const { won, lost } = await race(20, (n) => approve(id, account, processes[n % 2]));
    expect(won).toHaveLength(1);
    expect(lost).toEqual(Array(19).fill('order_wrong_status'));
    expect(await takeEvents(stores)).toHaveLength(1);
  });
});
