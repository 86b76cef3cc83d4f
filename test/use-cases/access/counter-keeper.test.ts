import { beforeEach, expect, jest, test } from '@jest/globals';
import type { CounterSnapshots } from '../../../src/access/ports.ts';
import { MemoryQuotaCounters } from '../../../src/adapters/memory/memory-quota-counters.ts';
import { SettableClock } from '../../support/settable-clock.ts';
import { CounterKeeper } from '../../../src/adapters/metering/usage-recorder.ts';
import { storesOfTests } from '../../support/stores-of-tests.ts';
import { Unavailable } from '../../../src/kernel/ports.ts';

const now = new Date('2026-03-01T10:00:00Z');
const limits = { perMinute: 2, perDay: 3 };
const away = new Unavailable('The database', undefined);

const open = storesOfTests();
let snapshots: CounterSnapshots;
let counters: MemoryQuotaCounters;
let keeper: CounterKeeper;
beforeEach(async () => {
  ({ counterSnapshots: snapshots } = await open());
  ({ counters, keeper } = newProcess());
});

const newProcess = () => {
  const counters = new MemoryQuotaCounters();
  return { counters, keeper: new CounterKeeper(counters, snapshots, new SettableClock(now)) };
};
const restarted = async () => {
  const next = newProcess();
  await next.keeper.restore();
  return next.counters;
};
const take = (subject: string, by = counters) => by.take({ subject, limits, striker: 'k', now });
const saved = async () => (await snapshots.load()).map(({ subject }) => subject).sort();

test('the next process continues from the saved counts', async () => {
  for (let n = 0; n < 4; n++) await take('account:a');
  await keeper.save();
  const refused = { allowed: false, counts: { minute: 2, day: 2 }, strikes: 3 };
  expect(await take('account:a', await restarted())).toEqual(refused);
});

test('only changed counts are saved', async () => {
  await take('account:a');
  await take('account:b');
  await keeper.save();
  const save = jest.spyOn(snapshots, 'save');
  await take('account:b');
  await keeper.save();
  await keeper.save();
  const subjects = save.mock.calls.map(([all]) => all.map(({ subject }) => subject));
  expect(subjects).toEqual([['account:b'], []]);
});

test('counts that cannot be saved are saved the next time, with their latest values', async () => {
  await take('account:a');
  await take('account:b');
  jest.spyOn(snapshots, 'save').mockRejectedValueOnce(away);
  const save = keeper.save();
  await take('account:a');
  await take('account:c');
  await expect(save).rejects.toBe(away);
  expect(await saved()).toEqual([]);
  await keeper.save();
  expect(await saved()).toEqual(['account:a', 'account:b', 'account:c']);
  expect(await take('account:a', await restarted())).toMatchObject({ allowed: false });
});

test('restored counts never hide later ones', async () => {
  jest.spyOn(snapshots, 'save').mockRejectedValueOnce(away);
  await take('account:a');
  await expect(keeper.save()).rejects.toBe(away);
  await take('account:a');
  await keeper.save();
  await keeper.save();
  expect(await (await restarted()).peek('account:a', now)).toEqual({ minute: 2, day: 2 });
});

test('the service does not start with empty counters when the saved ones are unreadable', async () => {
  jest.spyOn(snapshots, 'load').mockRejectedValueOnce(away);
  await expect(keeper.restore()).rejects.toBe(away);
});

test('the first change after counts were saved triggers the next save', async () => {
  let rung = 0;
  keeper.news.listen(() => (rung += 1));
  await take('account:a');
  await take('account:b');
  await keeper.save();
  expect(rung).toBe(1);
  await take('account:a');
  expect(rung).toBe(2);
});
