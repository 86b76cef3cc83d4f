import { expect, test } from '@jest/globals';
import { ConnectionSlots } from '../../../src/adapters/kysely/engine/mysql-pool.ts';

const hourMs = 60 * 60_000;
const open = (reserve = 0) => new ConnectionSlots({ all: 5, reserve, mostWaiting: 3 });

const isTaken = (slot: Promise<unknown>): Promise<boolean> =>
  Promise.race([
    slot.then(() => true),
    new Promise<false>((resolve) => setImmediate(resolve, false)),
  ]);

const takeAll = async (slots: ConnectionSlots, table: string, count: number) =>
  Promise.all(Array.from({ length: count }, () => slots.take(table, hourMs)));

test('requests for a busy table cannot take the last connections, and other requests pass those that wait', async () => {
  const slots = open(2);
  const taken = await takeAll(slots, 'pets', 3);
  const stuck = slots.take('pets', hourMs);
  const [orders, nothing] = [slots.take('orders', hourMs), slots.take('', hourMs)];
  expect(await Promise.all([stuck, orders, nothing].map(isTaken))).toEqual([false, true, true]);
  for (const slot of [...taken, await orders]) slots.giveBack(slot);
  expect(await isTaken(stuck)).toBe(true);
});

test('a transaction counts for every table that it has used', async () => {
  const slots = open(2);
  const transactions = await takeAll(slots, 'keys', 3);
  for (const one of transactions) one.add('pets');
  const reader = slots.take('pets', hourMs);
  expect(await isTaken(reader)).toBe(false);
  for (const one of transactions) slots.giveBack(one);
  expect(await isTaken(reader)).toBe(true);
});

test('the limit is never exceeded, and the first to wait is served first', async () => {
  const slots = open();
  const [first, second] = await takeAll(slots, 'pets', 5);
  const [sixth, seventh] = [slots.take('keys', hourMs), slots.take('orders', hourMs)];
  expect(await Promise.all([sixth, seventh].map(isTaken))).toEqual([false, false]);
  slots.giveBack(first!);
  expect(await Promise.all([sixth, seventh].map(isTaken))).toEqual([true, false]);
  slots.giveBack(second!);
  expect(await isTaken(seventh)).toBe(true);
});

test('a wait that times out does not slow later transactions, and requests are refused at once while too many wait', async () => {
  const slots = open();
  const [first] = await takeAll(slots, 'pets', 5);
  const waiting = Array.from({ length: 3 }, () => slots.take('pets', 1));
  const late = expect(Promise.any(waiting)).rejects.toMatchObject({
    errors: waiting.map(() => ({ code: 'POOL_BUSY' })),
  });
  await expect(slots.take('orders', hourMs)).rejects.toMatchObject({ code: 'POOL_FULL' });
  await late;
  slots.giveBack(first!);
  expect(await isTaken(slots.take('pets', hourMs))).toBe(true);
});
