import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { HourOfUsage } from '../../../src/access/ports.ts';
import { later, newAccount } from '../../support/accounts.ts';
import { databaseKinds } from '../../support/servers/databases.ts';
import { describeStores } from '../../support/store-contracts.ts';
import { openStores, type Stores } from '../../support/stores.ts';
import { usageLogContract } from './usage-log.contract.ts';

describeStores('the usage log', usageLogContract);

describe.each(databaseKinds)('the usage log over transactions of %s', (kind) => {
  let stores: Stores;
  beforeAll(async () => {
    stores = await openStores(kind);
  });
  afterAll(() => stores.close());

  test('usage that cannot be stored as a whole is not stored at all', async () => {
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
