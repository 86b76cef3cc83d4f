import { expect, test } from '@jest/globals';
import { MysqlPlaces } from '../../../src/adapters/kysely/engine/mysql-places.ts';

const hourMs = 60 * 60_000;
const open = (reserve = 0) => new MysqlPlaces({ all: 5, reserve, mostWaiting: 3 });

const isTaken = (place: Promise<unknown>): Promise<boolean> =>
  Promise.race([
    place.then(() => true),
    new Promise<false>((resolve) => setImmediate(resolve, false)),
  ]);

const takeAll = async (places: MysqlPlaces, table: string, count: number) =>
  Promise.all(Array.from({ length: count }, () => places.take(table, hourMs)));

test('what needs a busy table does not get the last connections, and all else does, ahead of those that wait', async () => {
  const places = open(2);
  const taken = await takeAll(places, 'pets', 3);
  const stuck = places.take('pets', hourMs);
  const [orders, nothing] = [places.take('orders', hourMs), places.take('', hourMs)];
  expect(await Promise.all([stuck, orders, nothing].map(isTaken))).toEqual([false, true, true]);
  for (const place of [...taken, await orders]) places.giveBack(place);
  expect(await isTaken(stuck)).toBe(true);
});

test('a transaction occupies every table that it has used', async () => {
  const places = open(2);
  const transactions = await takeAll(places, 'keys', 3);
  for (const one of transactions) one.add('pets');
  const reader = places.take('pets', hourMs);
  expect(await isTaken(reader)).toBe(false);
  for (const one of transactions) places.giveBack(one);
  expect(await isTaken(reader)).toBe(true);
});

test('the limit is never exceeded, and the first to wait is the first served', async () => {
  const places = open();
  const [first, second] = await takeAll(places, 'pets', 5);
  const [sixth, seventh] = [places.take('keys', hourMs), places.take('orders', hourMs)];
  expect(await Promise.all([sixth, seventh].map(isTaken))).toEqual([false, false]);
  places.giveBack(first!);
  expect(await Promise.all([sixth, seventh].map(isTaken))).toEqual([true, false]);
  places.giveBack(second!);
  expect(await isTaken(seventh)).toBe(true);
});

test('a wait times out and costs later transactions nothing; too many that wait are refused at once', async () => {
  const places = open();
  const [first] = await takeAll(places, 'pets', 5);
  const waiting = Array.from({ length: 3 }, () => places.take('pets', 1));
  const late = expect(Promise.any(waiting)).rejects.toMatchObject({
    errors: waiting.map(() => ({ code: 'POOL_BUSY' })),
  });
  await expect(places.take('orders', hourMs)).rejects.toMatchObject({ code: 'POOL_FULL' });
  await late;
  places.giveBack(first!);
  expect(await isTaken(places.take('pets', hourMs))).toBe(true);
});
