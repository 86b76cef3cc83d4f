import { beforeEach, expect } from '@jest/globals';
import type { AccessEvent } from '../../../src/access/domain/access-event.ts';
import type { ParkedDelivery } from '../../../src/kernel/queue.ts';
import { later, newAccount } from '../../support/accounts.ts';
import { race } from '../../support/race.ts';
import { describeStores, test, testOnBoth } from '../../support/store-contracts.ts';

const lease = 60_000;
const idsOf = (deliveries: readonly { readonly id: string }[]) => deliveries.map(({ id }) => id);

describeStores(
  'parked deliveries',
  (stores) => {
    const { outbox, parkedDeliveries: parked } = stores;
    let account: string;
    beforeEach(async () => {
      account = await newAccount(stores);
      await parked.releaseAll();
      await outbox.done(await claim(1e12));
    });

    const claim = (at = 0) => outbox.claim(later(at), later(at + lease), { limit: 10_000 });
    const store = async (count: number): Promise<void> => {
      const issued = (n: number): AccessEvent => ({
        type: 'api_key_issued',
        accountId: account,
        occurredAt: later(n),
        keyId: `key_${n}`,
      });
      const events = Array.from({ length: count }, (_, n) => issued(n));
      await stores.accounts.change(account, (state) => ({ state, events }));
    };
    /** @returns their ids, oldest first */
    const park = async (count: number): Promise<readonly string[]> => {
      await store(count);
      for (const one of await claim()) await outbox.retry(one, later(0), 'first');
      const held = await claim();
      for (const one of held) {
        const { id } = one;
        await outbox.park(one, `the printer at ${id} burns 🔥`);
      }
      return idsOf(held);
    };

    testOnBoth('are listed with the details that an operator needs, oldest first', async () => {
      const ids = await park(3);
      const expected = ids.map((id, n): ParkedDelivery => ({
        id,
        subscriber: 'mail',
        attempts: 2,
        problem: `the printer at ${id} burns 🔥`,
        eventId: expect.any(String) as unknown as string,
        type: 'api_key_issued',
        accountId: account,
        occurredAt: later(n),
      }));
      expect(await parked.list(10)).toEqual(expected);
    });

    test('are listed page by page, even when the last one of a page is released meanwhile', async () => {
      const ids = await park(5);
      expect(idsOf(await parked.list(2))).toEqual(ids.slice(0, 2));
      await parked.release(ids[1] ?? '');
      expect(idsOf(await parked.list(2, ids[1]))).toEqual(ids.slice(2, 4));
      expect(idsOf(await parked.list(2, ids[3]))).toEqual(ids.slice(4));
      expect(await parked.list(2, ids[4])).toEqual([]);
    });

    test('do not include deliveries that wait or are being worked on', async () => {
      await store(2);
      expect(await parked.list(10)).toEqual([]);
      await claim();
      expect(await parked.list(10)).toEqual([]);
    });

    test('are due at once and count as new when they are released, and others stay parked', async () => {
      const [first = '', second = ''] = await park(2);
      expect(await parked.release(second)).toBe('released');
      expect(await outbox.state()).toEqual({ waiting: 1, parked: 1 });
      expect(await claim()).toMatchObject([{ id: second, attempts: 0 }]);
      expect(idsOf(await parked.list(10))).toEqual([first]);
    });

    testOnBoth('are each delivered once when all are released', async () => {
      const ids = await park(7);
      expect(await parked.releaseAll()).toBe(7);
      expect(await parked.releaseAll()).toBe(0);
      const again = await claim();
      expect(idsOf(again)).toEqual(ids);
      expect(again.every(({ attempts }) => attempts === 0)).toBe(true);
      expect(await claim()).toEqual([]);
    });

    testOnBoth(
      'are released once when twenty requests release the same one, even from another process',
      async () => {
        const [id = ''] = await park(1);
        const both = [parked, stores.secondProcess.parkedDeliveries];
        const { won, lost } = await race(20, (n) => both[n % 2]!.release(id));
        expect(lost).toEqual([]);
        expect(won.filter((one) => one === 'released')).toHaveLength(1);
        expect(won.filter((one) => one === 'not_parked')).toHaveLength(19);
      },
    );

    test('stay with the worker that is retrying them when somebody asks to release them', async () => {
      await store(1);
      const [held] = await claim();
      expect(await parked.release(held?.id ?? '')).toBe('not_parked');
      expect(await parked.releaseAll()).toBe(0);
      expect(await claim()).toEqual([]);
    });

    test('are unknown once they are delivered', async () => {
      const [id = ''] = await park(1);
      await parked.release(id);
      await outbox.done([{ id }]);
      expect(await parked.release(id)).toBe('unknown');
    });
  },
  { subscribersOf: (type) => (type === 'api_key_issued' ? ['mail'] : []) },
);
