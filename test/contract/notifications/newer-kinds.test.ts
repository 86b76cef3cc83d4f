import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { openDatabase, databaseKinds } from '../../support/servers/databases.ts';
import { settle } from '../../../src/notifications/domain/webhook-delivery.ts';
import {
  firstSecret,
  changeWebhook,
  switchOff,
  type Webhook,
} from '../../../src/notifications/domain/webhook.ts';
import { later, newAccount } from '../../support/accounts.ts';
import { openStores, type Stores } from '../../support/stores.ts';
import {
  allDue,
  destinationRules,
  webhookDecision,
} from '../../support/webhooks/stored-webhook.ts';

/** The kinds in a webhook's row, including those that this release does not know. */
const storedKinds = async (url: string, id: string): Promise<unknown> => {
  const database = openDatabase(url);
  const webhooks = database.root.selectFrom('webhooks').select('kinds').where('id', '=', id);
  const { kinds } = await webhooks.executeTakeFirstOrThrow();
  await database.close();
  return JSON.parse(kinds);
};

describe.each(databaseKinds)(
  'a webhook with a kind that only a newer release knows, in %s',
  (kind) => {
    let stores: Stores;
    let webhook: Webhook;
    let url: string;
    let of: { readonly accountId: string; readonly webhookId: string };
    beforeAll(async () => {
      stores = await openStores(kind, { onOpened: (opened) => (url = opened) });
      const accountId = await newAccount(stores);
      const decision = webhookDecision(accountId);
      // The form in which the newer release stores it.
      const kinds = [
        ...(decision.state.kinds as readonly string[]),
        'ship.sunk',
      ] as unknown as Webhook['kinds'];
      ({ state: webhook } = decision);
      of = { accountId, webhookId: webhook.id };
      const secrets = firstSecret('whsec_x');
      await stores.webhooks.add(accountId, () => ({
        ...decision,
        secrets,
        state: { ...webhook, kinds },
      }));
    });
    afterAll(() => stores.close());

    test('keeps that kind through attempts, switches and a choice of other kinds', async () => {
      expect(await stores.webhooks.find(of)).toEqual(webhook);
      const message = { ...of, id: 'evt_newer', type: 'key.banned', body: '{}' };
      await stores.webhookDeliveries.add(message, [webhook], later(0));
      const claimed = await stores.webhookDeliveries.claim(later(1), later(30_000), allDue);
      const failed = { kind: 'answered', status: 500, beginning: '', tookMs: 5000 } as const;
      const attempt = { ...failed, at: later(1) };
      await stores.webhookDeliveries.settle(claimed[0]!, attempt, (now) =>
        settle(now, attempt, { address: webhook.address, chance: 0 }),
      );
      expect(await storedKinds(url, webhook.id)).toEqual([
        ...(webhook.kinds as readonly string[]),
        'ship.sunk',
      ]);
      const chosen = { address: webhook.address, kinds: ['key.banned'] };
      await stores.webhooks.change(of, (now) =>
        changeWebhook(now, chosen, destinationRules, later(2)),
      );
      await stores.webhooks.change(of, (now) => switchOff(now, 'by_hand', later(3)));
      expect(await storedKinds(url, webhook.id)).toEqual(['key.banned', 'ship.sunk']);
      const all = { address: webhook.address, kinds: 'all' } as const;
      await stores.webhooks.change(of, (now) =>
        changeWebhook(now, all, destinationRules, later(4)),
      );
      expect(await storedKinds(url, webhook.id)).toBe('all');
      expect(await stores.webhooks.find(of)).toMatchObject({ kinds: 'all' });
      await stores.webhooks.change(of, (now) =>
        changeWebhook(now, chosen, destinationRules, later(5)),
      );
      expect(await stores.webhooks.find(of)).toMatchObject({ kinds: ['key.banned'] });
    });
  },
);
