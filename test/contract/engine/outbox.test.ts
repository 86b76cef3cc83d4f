import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { addPet } from '../../../src/catalogue/domain/pet.ts';
import { mostCounted } from '../../../src/kernel/queue.ts';
import { newAccount, now, personDecision } from '../../support/accounts.ts';
import { databaseKinds } from '../../support/servers/databases.ts';
import { refusal } from '../../support/refusal.ts';
import { describeStores } from '../../support/store-contracts.ts';
import { openStores, type Stores } from '../../support/stores.ts';
import { outboxContract } from './outbox.contract.ts';

describeStores('the outbox', outboxContract);

describe.each(databaseKinds)('the signal of the outbox in %s', (kind) => {
  let stores: Stores;
  let account: string;
  let seenAtSignal: Promise<number>[] = [];
  let whoListens: string[] = [];
  let signals: (readonly string[])[] = [];
  let toDeliver: boolean[] = [];
  beforeAll(async () => {
    stores = await openStores(kind, {
      subscribersOf: (type) => (type === 'pet_added' ? ['audit', 'mail'] : []),
      onStored: (accountIds, hasDeliveries) => {
        signals.push(accountIds);
        toDeliver.push(hasDeliveries);
        whoListens.push(stores.acting.actor);
        const committed = stores.secondProcess.outbox.state();
        seenAtSignal.push(committed.then(({ waiting }) => waiting));
      },
    });
    account = await newAccount(stores);
  });
  afterAll(async () => {
    await Promise.all(seenAtSignal);
    await stores.close();
  });

  const draft = { name: 'Rex', categoryId: 7n, status: 'available' } as const;
  const add = (to = account) => stores.pets.add(to, draft, (id) => addPet(to, id, draft, now));
  const once = (key: string, work: () => Promise<void>) => {
    const request = { accountId: account, key, fingerprint: 'f', now };
    return stores.idempotencyKeys.once(request, async () => {
      await work();
      return { status: 201, headers: {}, body: '' };
    });
  };

  test('is sent once per transaction, after its commit', async () => {
    seenAtSignal = [];
    await once('two', async () => {
      await add();
      await add();
      expect(seenAtSignal).toEqual([]);
    });
    expect(await Promise.all(seenAtSignal)).toEqual([4]);
  });

  test('is sent with the service as its actor', async () => {
    const { acting } = stores;
    whoListens = [];
    await acting.run('person:mia@shop.example', () => add());
    expect(whoListens).toEqual(['service']);
  });

  test('names each account with new events once, and none from before', async () => {
    const [other, refused] = [await newAccount(stores), await newAccount(stores)];
    signals = [];
    const outcome = once('refused', async () => {
      await add(refused);
      throw refusal;
    });
    await expect(outcome).rejects.toBe(refusal);
    await once('kept', async () => {
      for (const one of [other, account, other]) await add(one);
    });
    await add();
    expect(signals).toEqual([[other, account], [account]]);
  });

  test('says whether any of the events has a subscriber', async () => {
    toDeliver = [];
    const other = await newAccount(stores);
    await add();
    await once('both', async () => {
      await add();
      await stores.people.add(personDecision(other));
    });
    expect(toDeliver).toEqual([false, true, true]);
  });

  test('is not sent for a rollback', async () => {
    signals = [];
    const outcome = once('none', async () => {
      await add();
      throw refusal;
    });
    await expect(outcome).rejects.toBe(refusal);
    expect(signals).toEqual([]);
  });
});

test('no more deliveries are counted than a scrape can bear', async () => {
  const stores = await openStores('sqlite', { subscribersOf: () => ['audit', 'mail'] });
  const account = await newAccount(stores);
  const plan = { from: 'free', to: 'pro', perMinute: 300, perDay: 10_000 } as const;
  const event = { type: 'plan_changed', accountId: account, occurredAt: now, ...plan } as const;
  const events = Array(mostCounted / 2 + 1).fill(event) as readonly (typeof event)[];
  await stores.accounts.change(account, (state) => ({ state, events }));
  expect(await stores.outbox.state()).toEqual({ waiting: mostCounted, parked: 0 });
  expect((await stores.outbox.oldest()).waiting).toEqual(now);
  await stores.close();
});
