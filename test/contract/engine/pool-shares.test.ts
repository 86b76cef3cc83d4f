import { expect, test } from '@jest/globals';
import { PoolShares } from '../../../src/adapters/kysely/engine/pool-shares.ts';

const hourMs = 60 * 60_000;
const open = (limits: Partial<ConstructorParameters<typeof PoolShares>[0]> = {}) =>
  new PoolShares({ all: 5, reserve: 2, mostWaiting: 3, ...limits });

const isTaken = (share: Promise<unknown>): Promise<boolean> =>
  Promise.race([
    share.then(() => true),
    new Promise<false>((resolve) => setImmediate(resolve, false)),
  ]);

const takeAll = async (shares: PoolShares, tables: readonly string[], count: number) =>
  Promise.all(Array.from({ length: count }, () => shares.take(tables, hourMs)));

test('a transaction on a busy table does not get the last connections', async () => {
  const shares = open();
  const [first] = await takeAll(shares, ['pets'], 3);
  const fourth = shares.take(['owners', 'pets'], hourMs);
  expect(await isTaken(fourth)).toBe(false);
  first?.giveBack();
  expect(await isTaken(fourth)).toBe(true);
});

test('a transaction on other tables gets one of the last connections, ahead of those that wait', async () => {
  const shares = open();
  const taken = await takeAll(shares, ['pets'], 3);
  const stuck = shares.take(['pets'], hourMs);
  const orders = shares.take(['orders'], hourMs);
  const nothing = shares.take([], hourMs);
  expect(await Promise.all([stuck, orders, nothing].map(isTaken))).toEqual([false, true, true]);
  // Or its hour would keep the process of the tests alive.
  for (const share of taken) share.giveBack();
  expect(await isTaken(stuck)).toBe(true);
});

test('a transaction occupies every table that it has used', async () => {
  const shares = open();
  const transactions = await takeAll(shares, ['keys'], 3);
  for (const one of transactions) one.touch(['pets', 'pets']);
  const reader = shares.take(['pets'], hourMs);
  expect(await isTaken(reader)).toBe(false);
  for (const one of transactions) one.giveBack();
  expect(await isTaken(reader)).toBe(true);
});

test('the limit is never exceeded, and the first to wait is the first served', async () => {
  const shares = open({ reserve: 0 });
  const [first, second] = await takeAll(shares, ['pets'], 5);
  const [sixth, seventh] = [shares.take([], hourMs), shares.take(['orders'], hourMs)];
  expect(await Promise.all([sixth, seventh].map(isTaken))).toEqual([false, false]);
  first?.giveBack();
  expect(await Promise.all([sixth, seventh].map(isTaken))).toEqual([true, false]);
  second?.giveBack();
  expect(await isTaken(seventh)).toBe(true);
});

test('a wait times out and costs later transactions nothing', async () => {
  const shares = open({ reserve: 0 });
  const [first] = await takeAll(shares, ['pets'], 5);
  await expect(shares.take(['pets'], 1)).rejects.toMatchObject({ code: 'POOL_BUSY' });
  first?.giveBack();
  expect(await isTaken(shares.take(['pets'], hourMs))).toBe(true);
});

test('transactions are refused at once when too many wait', async () => {
  const shares = open({ reserve: 0 });
  await takeAll(shares, ['pets'], 5);
  const waiting = Array.from({ length: 3 }, () => shares.take(['pets'], 1).catch(() => 'late'));
  await expect(shares.take(['orders'], hourMs)).rejects.toMatchObject({ code: 'POOL_FULL' });
  expect(await Promise.all(waiting)).toEqual(['late', 'late', 'late']);
});
