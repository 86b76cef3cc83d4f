import { afterAll, beforeAll, beforeEach, expect, describe, test } from '@jest/globals';
import { revokeApiKey } from '../../../src/access/domain/api-key.ts';
import { usageOutcomes, type HourOfUsage, type UsageOutcome } from '../../../src/access/ports.ts';
import { keyDecision, later, newAccount } from '../../support/accounts.ts';
import { race } from '../../support/race.ts';
import { describeStores, testOnBoth } from '../../support/store-contracts.ts';
import { openStores, type Stores } from '../../support/stores.ts';
import { databaseKinds } from '../../support/servers/databases.ts';

const firstHour = new Date('2026-03-01T10:00:00Z');
const hourOf = (number: number) => new Date(firstHour.getTime() + number * 3_600_000);
const midnight = hourOf(-10);
const nobody = new Map<string, Date>();

describeStores('the usage log', (stores) => {
  const { usage } = stores;
  let account: string;
  let keyId: string;
  beforeEach(async () => {
    account = await newAccount(stores);
    const key = keyDecision(account);
    await stores.apiKeys.add(key);
    keyId = key.state.key.id;
  });

  const used = (draft: Partial<HourOfUsage> = {}): HourOfUsage => {
    const place = { accountId: account, keyId, operation: 'listPets', outcome: '2xx' } as const;
    return { ...place, hour: hourOf(0), requests: 1, ...draft };
  };
  const listed = (since = firstHour) => usage.list(account, since);
  const lastUse = async (id = keyId) =>
    (await stores.apiKeys.list(account)).find((key) => key.id === id)?.lastUsedAt;

  testOnBoth(
    'counts for the same key, operation and hour add up, separately from all others',
    async () => {
      const others = [
        ...usageOutcomes.map((outcome) => used({ outcome, requests: 2 })),
        ...['getPet', 'none'].map((operation) => used({ operation, requests: 3 })),
        used({ keyId: 'key_other', requests: 4 }),
        used({ hour: hourOf(1), requests: 5 }),
        used({ accountId: await newAccount(stores), requests: 6 }),
      ];
      await usage.add(others, nobody);
      await usage.add([used({ requests: 40 }), used({ hour: hourOf(1), requests: 50 })], nobody);
      const mine = others.filter(({ accountId }) => accountId === account);
      const expected = mine.map((one) => {
        const more = one.hour > firstHour ? 50 : 40;
        const plain = one.outcome === '2xx' && one.operation === 'listPets' && one.keyId === keyId;
        return plain ? { ...one, requests: one.requests + more } : one;
      });
      expect(await listed()).toHaveLength(expected.length);
      expect(await listed()).toEqual(expect.arrayContaining(expected));
    },
  );

  testOnBoth(
    'requests are summed by key and outcome, starting at a given hour or day',
    async () => {
      const rows = [
        used({ requests: 2 }),
        used({ hour: hourOf(1), operation: 'getPet', requests: 3 }),
        used({ outcome: 'refused', requests: 4 }),
        used({ keyId: 'key_z', requests: 5 }),
        used({ hour: hourOf(-1), requests: 6 }),
        used({ hour: hourOf(-11), requests: 10 }),
        used({ accountId: await newAccount(stores), requests: 7 }),
      ];
      await usage.add(rows, nobody);
      const sums = (ofFirst: number) => [
        { keyId, outcome: '2xx', requests: ofFirst },
        { keyId, outcome: 'refused', requests: 4 },
        { keyId: 'key_z', outcome: '2xx', requests: 5 },
      ];
      expect(await usage.sumByKey(account, firstHour, 'hour')).toEqual(sums(5));
      expect(await usage.sumByKey(account, midnight, 'day')).toEqual(sums(11));
      const first = await usage.list(account, firstHour, hourOf(1));
      expect(first.map(({ requests }) => requests).toSorted()).toEqual([2, 4, 5]);
    },
  );

  testOnBoth('large numbers are stored exactly', async () => {
    await usage.add([used({ requests: Number.MAX_SAFE_INTEGER - 1 })], nobody);
    await usage.add([used()], nobody);
    expect(await listed()).toEqual([used({ requests: Number.MAX_SAFE_INTEGER })]);
  });

  testOnBoth(
    "only the account's own hours are listed, oldest first, starting at a given time",
    async () => {
      const stranger = await newAccount(stores);
      const hours = [3, 0, 2, 1].map((number) => used({ hour: hourOf(number) }));
      await usage.add([...hours, used({ accountId: stranger })], nobody);
      const [three, zero, two, one] = hours;
      expect(await listed()).toEqual([zero, one, two, three]);
      expect(await listed(hourOf(2))).toEqual([two, three]);
      expect(await listed(new Date(hourOf(2).getTime() + 1))).toEqual([three]);
      expect(await usage.list(stranger, firstHour)).toEqual([used({ accountId: stranger })]);
      expect(await usage.list('acct_nobody', firstHour)).toEqual([]);
    },
  );

  testOnBoth(
    'sums combine all keys and operations, by hour or day, starting at a given time',
    async () => {
      const stranger = await newAccount(stores);
      const rows = [
        used({ requests: 1 }),
        used({ operation: 'getPet', requests: 2 }),
        used({ keyId: 'key_other', requests: 4 }),
        used({ outcome: 'refused', requests: 8 }),
        used({ hour: hourOf(13), requests: 16 }),
        used({ hour: hourOf(14), requests: 32 }),
        used({ hour: hourOf(-1), requests: 64 }),
        used({ accountId: stranger, requests: 128 }),
      ];
      await usage.add(rows, nobody);
      const sum = (begin: Date, requests: number, outcome: UsageOutcome = '2xx') => ({
        begin,
        outcome,
        requests,
      });
      expect(await usage.sum({ accountId: account }, firstHour, 'hour')).toEqual([
        sum(hourOf(0), 7),
        sum(hourOf(0), 8, 'refused'),
        sum(hourOf(13), 16),
        sum(hourOf(14), 32),
      ]);
      expect(await usage.sum({ accountId: account }, midnight, 'day')).toEqual([
        sum(midnight, 7 + 16 + 64),
        sum(midnight, 8, 'refused'),
        sum(hourOf(14), 32),
      ]);
      await usage.add([used({ hour: hourOf(15), requests: 256 })], nobody);
      expect(await usage.sum({ accountId: account }, hourOf(14), 'day')).toEqual([
        sum(hourOf(14), 32 + 256),
      ]);
      expect(await usage.sum({ accountId: 'acct_nobody' }, midnight, 'hour')).toEqual([]);
    },
  );

  test('calls to given operations are listed for each key, the latest caller first', async () => {
    const stranger = await newAccount(stores);
    const other = keyDecision(account);
    await stores.apiKeys.add(other);
    const [keyA, keyB] = [keyId, other.state.key.id];
    const rows = [
      used({ keyId: keyA, operation: 'getPet', requests: 1 }),
      used({ keyId: keyA, operation: 'getPet', requests: 2, outcome: '4xx', hour: hourOf(1) }),
      used({ keyId: keyA, operation: 'getPet', requests: 4, hour: hourOf(-1) }),
      used({ keyId: keyA, operation: 'getToy', requests: 8 }),
      used({ keyId: keyB, operation: 'getPet', requests: 16, hour: hourOf(2) }),
      used({ keyId: keyB, operation: 'listPets', requests: 32 }),
      used({ accountId: stranger, operation: 'getPet', requests: 64 }),
    ];
    await usage.add(rows, nobody);
    const b = { keyId: keyB, operation: 'getPet', requests: 16, lastHour: hourOf(2) };
    const a = { keyId: keyA, operation: 'getPet', requests: 3, lastHour: hourOf(1) };
    const toy = { keyId: keyA, operation: 'getToy', requests: 8, lastHour: hourOf(0) };
    expect(await usage.callsTo(['getPet', 'getToy'], account, firstHour)).toEqual([b, a, toy]);
    expect(await usage.callsTo(['getPet'], account, hourOf(2))).toEqual([b]);
    expect(await usage.callsTo([], account, firstHour)).toEqual([]);
  });

  testOnBoth(
    'two processes that add at once lose no counts, whatever the order of their rows',
    async () => {
      const processes = [usage, stores.secondProcess.usage];
      const rows = ['a', 'b', 'c', 'd'].map((operation) => used({ operation }));
      const { won } = await race(20, (n) => {
        const mine = n % 2 ? rows : rows.toReversed();
        return (processes[n % 2] ?? usage).add(mine, new Map([[keyId, later(n)]]));
      });
      expect(won).toHaveLength(20);
      expect(await listed()).toEqual(rows.map((row) => ({ ...row, requests: 20 })));
      const days = await usage.sum({ accountId: account }, midnight, 'day');
      expect(days.map(({ requests }) => requests)).toEqual([80]);
      expect(await lastUse()).toEqual(later(19));
    },
  );

  testOnBoth('a key shows when it was last used, and this time never moves back', async () => {
    const moments = [];
    for (const at of [10, 30, 20, 30]) {
      await usage.add([used()], new Map([[keyId, later(at)]]));
      moments.push(await lastUse());
    }
    expect(moments).toEqual([later(10), later(30), later(30), later(30)]);
  });

  test('the last use is stored for that key only, and survives other changes to it', async () => {
    const [first] = await stores.apiKeys.list(account);
    const lastUsed = new Map([
      [keyId, later(10)],
      ['key_nobody', later(20)],
    ]);
    await usage.add([], lastUsed);
    await stores.apiKeys.change(keyId, (key) => revokeApiKey(key, later(30)));
    expect(await lastUse()).toEqual(later(10));
    expect(await lastUse(first?.id)).toBeUndefined();
  });

  testOnBoth('a sweep deletes the hours before a given time', async () => {
    await stores.retention.sweep('usage_hours', hourOf(9));
    const hours = [0, 1, 2].map((number) => used({ hour: hourOf(number) }));
    await usage.add(hours, nobody);
    expect(await stores.retention.sweep('usage_hours', hourOf(1))).toBe(1);
    expect(await listed()).toEqual(hours.slice(1));
    expect(await stores.retention.sweep('usage_hours', hourOf(1))).toBe(0);
    expect(await stores.retention.sweep('usage_hours', hourOf(3))).toBe(2);
  });
});

describe.each(databaseKinds)('the usage log over transactions of %s', (kind) => {
  let stores: Stores;
  beforeAll(async () => {
    stores = await openStores(kind);
  });
  afterAll(() => stores.close());

  test('usage is stored completely or not at all', async () => {
    const accountId = await newAccount(stores);
    const [key] = await stores.apiKeys.list(accountId);
    const keyId = key?.id ?? '';
    const hour = new Date('2026-03-01T10:00:00Z');
    const good = { accountId, keyId, operation: 'a', outcome: '2xx', hour, requests: 1 } as const;
    const half: HourOfUsage = { ...good, operation: 'b', requests: 0.5 };
    const adding = stores.usage.add([good, half], new Map([[keyId, later(1)]]));
    await expect(adding).rejects.toThrow(RangeError);
    expect(await stores.usage.list(accountId, hour)).toEqual([]);
    expect(await stores.apiKeys.list(accountId)).toEqual([key]);
  });
});
