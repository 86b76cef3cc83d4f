import { beforeEach, describe, expect, test } from '@jest/globals';
import { MemoryQuotaCounters } from '../../../src/adapters/memory/memory-quota-counters.ts';

const now = new Date('2026-03-01T12:00:00Z');
const later = new Date('2026-03-01T12:01:00Z');
const limits = { perMinute: 2, perDay: 9 };

let counters: MemoryQuotaCounters;
beforeEach(() => {
  counters = new MemoryQuotaCounters();
});

const take = (subject: string, striker?: string, at = now) =>
  counters.take({ subject, limits, striker, now: at });
const subjects = () => counters.takeChanges().map(({ subject }) => subject);

test('changes are returned once, as one entry for each subject and each key with strikes', async () => {
  for (let n = 0; n < 4; n++) await take('account:a', 'key_1');
  await counters.peek('account:b', now);
  expect(subjects()).toEqual(['account:a', 'key:key_1']);
  expect(subjects()).toEqual([]);
  await take('account:a', 'key_1', later);
  expect(subjects()).toEqual(['account:a']);
});

test('changes that are put back are returned again with their latest values', async () => {
  await take('account:a');
  const early = counters.takeChanges();
  await take('account:a');
  counters.putBack(early);
  const [change, ...others] = counters.takeChanges();
  expect(others).toEqual([]);
  expect(JSON.parse(change?.data ?? '')).toMatchObject({ minute: { count: 2 }, day: { count: 2 } });
});

test('shared counts raise local counts and never lower them', async () => {
  await take('account:a');
  counters.learn('account:a', { minute: 0, day: 7 }, now);
  expect(await counters.peek('account:a', now)).toEqual({ minute: 1, day: 7 });
  counters.learn('account:a', { minute: 2, day: 1 }, now);
  expect(await take('account:a')).toMatchObject({ allowed: false, counts: { minute: 2, day: 7 } });
});

test('shared counts of a minute end with it, and those of the day remain', async () => {
  counters.learn('account:a', { minute: 2, day: 7 }, now);
  expect(await counters.peek('account:a', later)).toEqual({ minute: 0, day: 7 });
});

describe('when the addresses exceed the limit', () => {
  beforeEach(async () => {
    counters = new MemoryQuotaCounters(5);
    for (let n = 0; n < 3; n++) await take('account:a', 'key_1');
  });
  const counted = async (subject: string) => (await counters.peek(subject, now)).day;

  test.each([
    ['counted', (subject: string) => void take(subject)],
    ['learned', (subject: string) => counters.learn(subject, { minute: 1, day: 1 }, now)],
  ])(
    'the addresses that were %s first are dropped, and accounts and keys stay',
    async (_, meet) => {
      const addresses = Array.from({ length: 9 }, (_, n) => `address:${n}`);
      for (const address of addresses) meet(address);
      const days = await Promise.all(addresses.map(counted));
      expect(days).toEqual([0, 0, 0, 0, 0, 0, 1, 1, 1]);
      expect(await take('account:a', 'key_1')).toMatchObject({ allowed: false, strikes: 2 });
    },
  );

  test('accounts and keys are still added', async () => {
    for (let n = 0; n < 9; n++) await take(`account:${n}`);
    expect(await Promise.all([0, 8].map((n) => counted(`account:${n}`)))).toEqual([1, 1]);
  });

  test('dropped addresses are no longer among the changes, and cannot be put back', async () => {
    counters.takeChanges();
    for (let n = 0; n < 4; n++) await take(`address:${n}`);
    const changes = counters.takeChanges();
    expect(changes.map(({ subject }) => subject)).toEqual([1, 2, 3].map((n) => `address:${n}`));
    await take('address:4');
    counters.putBack(changes);
    expect(subjects().toSorted()).toEqual([2, 3, 4].map((n) => `address:${n}`));
  });
});
