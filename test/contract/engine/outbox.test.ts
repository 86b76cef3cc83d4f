import { afterAll, beforeAll, beforeEach, expect, describe, test } from '@jest/globals';
import type { AccessEvent } from '../../../src/access/domain/access-event.ts';
import type { Actor } from '../../../src/kernel/ports.ts';
import { mostCounted, type Delivery } from '../../../src/kernel/queue.ts';
import { addPet } from '../../../src/catalogue/domain/pet.ts';
import { later, newAccount, now, personDecision } from '../../support/accounts.ts';
import { race } from '../../support/race.ts';
import { describeStores, testOnBoth } from '../../support/store-contracts.ts';
import { openStores, type Stores } from '../../support/stores.ts';
import { databaseKinds } from '../../support/servers/databases.ts';
import { refusal } from '../../support/refusal.ts';

const subscribers: Readonly<Record<string, readonly string[]>> = {
  api_key_issued: ['audit', 'mail'],
  plan_changed: ['audit'],
  deploy_discarded: ['storage'],
};
const toPro = { from: 'free', to: 'pro', perMinute: 300, perDay: 10_000 } as const;
const lease = 60_000;
const idsOf = (deliveries: readonly Delivery[]) => deliveries.map(({ id }) => id);

describeStores(
  'the outbox',
  (stores) => {
    const { outbox } = stores;
    let account: string;
    beforeEach(async () => {
      account = await newAccount(stores);
      await outbox.done(await outbox.claim(later(1e12), later(2e12), { limit: 1000 }));
      await sweep(later(1e12));
    });

    const issued = (
      keyId: string,
      type: 'api_key_issued' | 'api_key_revoked' = 'api_key_issued',
    ): AccessEvent => ({ type, accountId: account, occurredAt: later(0), keyId });
    const planChanged = (occurredAt = later(0)): AccessEvent => {
      return { type: 'plan_changed', accountId: account, occurredAt, ...toPro };
    };
    /** An event of a type that the audit log does not show. */
    const hidden = (
      occurredAt: Date,
      type: 'deploy_discarded' | 'certificate_ordered' = 'deploy_discarded',
    ) => ({ type, accountId: account, occurredAt, deployId: 'dep_1' }) as unknown as AccessEvent;
    const sweep = (before: Date) => stores.retention.sweep('events', before);
    const store = async (...events: readonly AccessEvent[]): Promise<void> => {
      await stores.accounts.change(account, (state) => ({ state, events }));
    };
    const claim = (at = 0) => outbox.claim(later(at), later(at + lease), { limit: 1000 });

    test('each subscriber gets its own delivery, with the event as it was stored', async () => {
      await store(issued('key_ä'));
      const deliveries = await claim();
      expect(deliveries.map((one) => one.subscriber)).toEqual(['audit', 'mail']);
      for (const { stored, attempts } of deliveries) {
        const { id } = deliveries[0]!.stored;
        expect(stored).toEqual({ id, actor: 'service', event: issued('key_ä') });
        expect(attempts).toBe(0);
      }
      expect(new Set(idsOf(deliveries)).size).toBe(2);
    });

    testOnBoth(
      'an event keeps its actor, whatever other transactions do at the same time',
      async () => {
        const actorOf = (n: number): Actor => `person:mia-${n}@shop.example`;
        await race(20, (n) => stores.acting.run(actorOf(n), () => store(issued(`key_${n}`))));
        await store(planChanged());
        const deliveries = (await claim()).filter(({ subscriber }) => subscriber === 'audit');
        const told = new Map(deliveries.map(({ stored }) => [stored.actor, stored.event]));
        const expected = Array.from(
          { length: 20 },
          (_, n) => [actorOf(n), issued(`key_${n}`)] as const,
        );
        expect(deliveries).toHaveLength(21);
        expect(told).toEqual(
          new Map<Actor, AccessEvent>([...expected, ['service', planChanged()]]),
        );
      },
    );

    test('an event without subscribers is stored without a delivery', async () => {
      await store(hidden(later(0), 'certificate_ordered'));
      expect(await claim()).toEqual([]);
      expect(await outbox.state()).toEqual({ waiting: 0, parked: 0 });
      expect(await sweep(later(1))).toBe(1);
    });

    test('a finished delivery is deleted, and finishing it twice is not an error', async () => {
      await store(issued('key_1'));
      const [first, second] = await claim();
      for (const one of [first, first]) await outbox.done([one!]);
      expect(await outbox.state()).toEqual({ waiting: 1, parked: 0 });
      expect(idsOf(await claim(lease))).toEqual([second!.id]);
    });

    testOnBoth('deliveries can be finished one by one or many at once', async () => {
      await store(...['key_1', 'key_2', 'key_3'].map((keyId) => issued(keyId)));
      const [first, ...others] = await claim();
      await outbox.done([...others.slice(1), first!]);
      expect(await outbox.state()).toEqual({ waiting: 1, parked: 0 });
      await outbox.done([]);
      expect(idsOf(await claim(lease))).toEqual(idsOf(others.slice(0, 1)));
    });

    testOnBoth(
      'a failed delivery is due again at its time with its attempts counted, and a late worker changes nothing',
      async () => {
        await store(planChanged());
        let [held] = await claim();
        for (const attempts of [1, 2, 3]) {
          const due = attempts * 10 * lease;
          await outbox.retry(held!, later(due), 'the printer is on fire 🔥'.repeat(500));
          expect(await outbox.state()).toEqual({ waiting: 1, parked: 0 });
          expect(await claim(due - 1)).toEqual([]);
          const before = held!;
          [held] = await claim(due);
          expect(held).toEqual({ ...before, claim: held?.claim, attempts });
          await outbox.retry(before, later(0), 'late');
          await outbox.park(before, 'late');
          expect(await claim(due)).toEqual([]);
        }
      },
    );

    test('the age of the oldest delivery is the age of its event, even while it waits for another attempt', async () => {
      await store(...[-3, -2, -1].map((at) => planChanged(later(at))));
      const [first, second] = await claim();
      await outbox.retry(first!, later(10 * lease), 'not yet');
      expect((await outbox.oldest()).waiting).toEqual(later(-3));
      await outbox.done([first!, second!]);
      expect((await outbox.oldest()).waiting).toEqual(later(-1));
    });

    test('a parked delivery is kept and counted but never claimed again', async () => {
      await store(issued('key_1'));
      const [first, second] = await claim();
      expect(await outbox.oldest()).toEqual({ waiting: later(0), parked: undefined });
      await outbox.park(first!, 'keeps failing');
      expect(await outbox.state()).toEqual({ waiting: 1, parked: 1 });
      expect(await outbox.oldest()).toEqual({ waiting: later(0), parked: later(0) });
      expect(idsOf(await claim(1e12))).toEqual([second!.id]);
    });

    testOnBoth('a sweep deletes older events that all subscribers have seen', async () => {
      await store(...[1, 2, 3, 4, 5, 6].map((at) => hidden(later(at))));
      const [, second, ...others] = await claim();
      await outbox.done(others);
      expect(await sweep(later(6))).toBe(3);
      expect(await sweep(later(6))).toBe(0);
      expect(await sweep(later(7))).toBe(1);
      const left = await claim(lease);
      expect(left).toHaveLength(2);
      await outbox.park(
        left.find(({ id }) => id === second!.id)!,
        'keeps failing',
      );
      expect(await sweep(later(1e12))).toBe(0);
    });

    test('the oldest event that can be cleaned up is known', async () => {
      await store(hidden(later(2)), planChanged(later(0)), hidden(later(1), 'certificate_ordered'));
      expect(await stores.retention.oldest('events')).toEqual(later(1));
      await store(hidden(later(0)));
      expect(await stores.retention.oldest('events')).toEqual(later(0));
    });

    test('a cleanup keeps the events that the audit log shows', async () => {
      await store(hidden(later(1)), planChanged(later(1)), hidden(later(1), 'certificate_ordered'));
      await outbox.done(await claim());
      expect(await sweep(later(2))).toBe(2);
      const entries = await stores.auditLog.list(account, 10, { kinds: ['plan_changed'] });
      expect(entries).toHaveLength(1);
    });
  },
  { subscribersOf: (type) => subscribers[type] ?? [] },
);

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

  test('names each account with new events once, and no account from an earlier signal', async () => {
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

test('counting deliveries stops at a limit, so that a scrape stays fast', async () => {
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
