import { beforeEach, expect } from '@jest/globals';
import { MemoryQuotaCounters } from '../../../src/adapters/memory/memory-quota-counters.ts';
import type { CounterSnapshot } from '../../../src/access/ports.ts';
import { later } from '../../support/accounts.ts';
import { describeStores, test, testOnBoth } from '../../support/store-contracts.ts';

const day = 86_400_000;
const limits = { perMinute: 3, perDay: 5 };

describeStores('snapshots of counters', (stores) => {
  const { counterSnapshots: snapshots } = stores;
  beforeEach(() => stores.retention.sweep('quota_counters', later(1000 * day)));

  const sorted = (all: readonly CounterSnapshot[]) =>
    all.toSorted((a, b) => (a.subject < b.subject ? -1 : 1));
  const kept = async () => sorted(await snapshots.load());

  test('the next process reads snapshots exactly as they were saved', async () => {
    const saved = [
      { subject: 'account:acct_1', data: '{"minute":{"index":29536920,"count":9007199254740991}}' },
      { subject: 'address:2001:db8::/64', data: `'"\\ ü🐦 ${'x'.repeat(900)}` },
      { subject: 'ADDRESS:2001:DB8::/64', data: '{}' },
    ];
    await snapshots.save(saved, later(0));
    expect(await kept()).toEqual(sorted(saved));
    expect(sorted(await stores.secondProcess.counterSnapshots.load())).toEqual(sorted(saved));
  });

  testOnBoth('a later snapshot replaces only that of the same subject', async () => {
    const a = (data: string) => ({ subject: 'a', data });
    const b = (data: string) => ({ subject: 'b', data });
    await snapshots.save([a('first'), b('first')], later(0));
    await snapshots.save([a('second')], later(0));
    expect(await kept()).toEqual([a('second'), b('first')]);
  });

  test('saving an empty list succeeds', async () => {
    await snapshots.save([], later(0));
    expect(await kept()).toEqual([]);
  });

  testOnBoth('a thousand subjects can be saved in one call, more than once', async () => {
    const all = Array.from({ length: 1000 }, (_, n) => ({
      subject: `address:${n}`,
      data: `${n}`,
    }));
    await snapshots.save(all, later(0));
    const again = all.map(({ subject, data }) => ({ subject, data: `again ${data}` }));
    await snapshots.save(again, later(1));
    expect(await kept()).toEqual(sorted(again));
  });

  test('counters continue after a restart, in both windows and with their strikes', async () => {
    const counters = new MemoryQuotaCounters();
    const at = (milliseconds: number, key: string) => {
      return { subject: 'account:a', limits, striker: key, now: later(milliseconds) };
    };
    for (let n = 0; n < 5; n++) await counters.take(at(0, 'key_1'));
    await snapshots.save(counters.takeChanges(), later(0));
    const restarted = new MemoryQuotaCounters();
    restarted.restore(await snapshots.load());
    for (const one of [counters, restarted]) {
      const refused = { allowed: false, counts: { minute: 3, day: 3 } };
      expect(await one.take(at(0, 'key_1'))).toEqual({ ...refused, strikes: 3 });
      expect(await one.take(at(0, 'key_2'))).toEqual({ ...refused, strikes: 1 });
      const next = await one.take(at(60_000, 'key_1'));
      expect(next).toEqual({ allowed: true, counts: { minute: 1, day: 4 }, strikes: 0 });
      expect(await one.take(at(0, 'key_1'))).toMatchObject({ allowed: false });
    }
    expect(sorted(restarted.takeChanges())).toEqual(sorted(counters.takeChanges()));
  });

  testOnBoth('a sweep deletes snapshots that were last saved before a given time', async () => {
    const save = (subject: string, milliseconds: number) =>
      snapshots.save([{ subject, data: '{}' }], later(milliseconds));
    await save('a', 1);
    await save('b', 1);
    await save('c', 2);
    await save('a', 2);
    expect(await stores.retention.sweep('quota_counters', later(2))).toBe(1);
    expect((await kept()).map(({ subject }) => subject)).toEqual(['a', 'c']);
    expect(await stores.retention.sweep('quota_counters', later(2))).toBe(0);
    expect(await stores.retention.sweep('quota_counters', later(3))).toBe(2);
  });
});
