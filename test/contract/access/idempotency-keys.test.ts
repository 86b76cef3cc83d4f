import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { addPet } from '../../../src/catalogue/domain/pet.ts';
import { newAccount, now, takeEvents } from '../../support/accounts.ts';
import { databaseKinds } from '../../support/servers/databases.ts';
import { refusal } from '../../support/refusal.ts';
import { describeStores } from '../../support/store-contracts.ts';
import { openStores, type Stores } from '../../support/stores.ts';
import { idempotencyKeysContract } from './idempotency-keys.contract.ts';

describeStores('idempotency keys', idempotencyKeysContract);

describe.each(databaseKinds)('idempotency keys over transactions of %s', (kind) => {
  let stores: Stores;
  beforeAll(async () => {
    stores = await openStores(kind);
  });
  afterAll(() => stores.close());

  test('nothing that the work wrote before it threw is kept', async () => {
    const account = await newAccount(stores);
    const draft = { name: 'Rex', categoryId: 7n, status: 'available' } as const;
    const request = { accountId: account, key: 'k', fingerprint: 'f', now };
    const outcome = stores.idempotencyKeys.once(request, async () => {
      await stores.pets.add(account, draft, (id) => addPet(account, id, draft, now));
      throw refusal;
    });
    await expect(outcome).rejects.toBe(refusal);
    expect(await stores.pets.list(account, { after: 0n, limit: 10 }, undefined)).toEqual([]);
    expect(await takeEvents(stores)).toEqual([]);
  });
});
