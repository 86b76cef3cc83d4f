import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { addPet } from '../../src/catalogue/domain/pet.ts';
import { newAccount, now } from '../support/accounts.ts';
import { databaseKinds } from '../support/databases.ts';
import { refusal } from '../support/refusal.ts';
import { openStores, storeKinds, type Stores } from '../support/stores.ts';
import { outboxContract } from './outbox.contract.ts';

describe.each(storeKinds)('the outbox in %s', (kind) => {
  outboxContract((subscribersOf) => openStores(kind, { subscribersOf }));
});

// Memory stores in one turn: there is no commit to wait for.
describe.each(databaseKinds)('the signal of the outbox in %s', (kind) => {
  let stores: Stores;
  let account: string;
  let seenAtSignal: Promise<number>[] = [];
  beforeAll(async () => {
    stores = await openStores(kind, {
      subscribersOf: (type) => (type === 'pet_added' ? ['audit', 'mail'] : []),
      onStored: () => {
        const committed = stores.secondProcess.outbox.state();
        seenAtSignal.push(committed.then(({ waiting }) => waiting));
      },
    });
    account = await newAccount(stores);
  });
  afterAll(() => stores.close());

  const draft = { name: 'Rex', categoryId: 7n, status: 'available' } as const;
  const add = () => stores.pets.add(account, draft, (id) => addPet(account, id, draft, now));

  test('is given once for what a transaction stored, when others can see it', async () => {
    seenAtSignal = [];
    const request = { accountId: account, key: 'two', fingerprint: 'f', now };
    await stores.idempotencyKeys.once(request, async () => {
      await add();
      await add();
      expect(seenAtSignal).toEqual([]);
      return { status: 201, headers: {}, body: '' };
    });
    expect(await Promise.all(seenAtSignal)).toEqual([4]);
  });

  test('is not given for what was not kept, or has no subscriber', async () => {
    seenAtSignal = [];
    const request = { accountId: account, key: 'none', fingerprint: 'f', now };
    const outcome = stores.idempotencyKeys.once(request, async () => {
      await add();
      throw refusal;
    });
    await expect(outcome).rejects.toBe(refusal);
    await newAccount(stores);
    expect(seenAtSignal).toEqual([]);
  });
});
