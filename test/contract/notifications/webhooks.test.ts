import { beforeEach, expect } from '@jest/globals';
import {
  firstSecret,
  rotateSecret,
  addWebhook,
  changeWebhook,
  mostWebhooks,
  removeWebhook,
  type Webhook,
  type WebhookStatus,
} from '../../../src/notifications/domain/webhook.ts';
import type { WebhookOf } from '../../../src/notifications/webhook-ports.ts';
import { later, newAccount, takeEvents } from '../../support/accounts.ts';
import { race } from '../../support/race.ts';
import { describeStores, test, testOnBoth } from '../../support/store-contracts.ts';
import {
  destinationRules,
  storedWebhook,
  webhookDecision,
} from '../../support/webhooks/stored-webhook.ts';

const statuses: readonly WebhookStatus[] = [
  { state: 'on', failingSince: undefined, failedAt: undefined, isSlow: false },
  { state: 'on', failingSince: later(7), failedAt: later(8), isSlow: true },
  { state: 'off', reason: 'gone', offSince: later(8) },
  { state: 'off', reason: 'failing', offSince: later(8) },
  { state: 'off', reason: 'by_hand', offSince: later(8) },
];

describeStores('webhooks', (stores) => {
  const { webhooks } = stores;
  let accountId: string;
  beforeEach(async () => {
    accountId = await newAccount(stores);
  });

  const stored = () => storedWebhook(webhooks, accountId);
  const of = ({ id: webhookId }: Webhook): WebhookOf => ({ accountId, webhookId });
  const secretsOf = async (webhook: Webhook) => {
    let found: unknown;
    await webhooks.change(of(webhook), (state, secrets) => {
      found = structuredClone(secrets());
      return { state, events: [] };
    });
    return found;
  };

  testOnBoth.each(statuses)(
    'a webhook with the status %j is read back unchanged',
    async (status) => {
      const webhook = await stored();
      const oldSecretsUntil = status.state === 'on' ? later(9) : undefined;
      const state = { ...webhook, status, oldSecretsUntil };
      await webhooks.change(of(webhook), () => ({ state, events: [] }));
      expect(await webhooks.find(of(webhook))).toEqual(state);
      expect(await webhooks.list(accountId)).toEqual([state]);
    },
  );

  test('webhook and event are stored together, and neither is stored if the decision throws', async () => {
    const webhook = await stored();
    expect(await takeEvents(stores)).toMatchObject([
      { type: 'webhook_added', accountId, webhookId: webhook.id, receiver: 'hooks.zoo.example' },
    ]);
    const refuse = () => {
      throw new Error('no');
    };
    await expect(webhooks.add(accountId, refuse)).rejects.toThrow('no');
    await expect(webhooks.change(of(webhook), refuse)).rejects.toThrow('no');
    await expect(webhooks.remove(of(webhook), refuse)).rejects.toThrow('no');
    expect(await webhooks.list(accountId)).toEqual([webhook]);
    expect(await takeEvents(stores)).toEqual([]);
  });

  testOnBoth(
    'when twenty webhooks are added at once, as many succeed as the account may have',
    async () => {
      const { won, lost } = await race(20, (n) => {
        const { webhooks: some } = n % 2 === 0 ? stores : stores.secondProcess;
        return some.add(accountId, (current) => ({
          ...addWebhook(
            { ...webhookDecision(accountId).state, current, id: `${accountId}_${n}` },
            destinationRules,
            later(0),
          ),
          secrets: firstSecret('whsec_one'),
        }));
      });
      expect([won.length, new Set(lost)]).toEqual([
        mostWebhooks,
        new Set(['webhook_limit_reached']),
      ]);
      expect(await webhooks.list(accountId)).toHaveLength(mostWebhooks);
    },
  );

  testOnBoth('none of twenty concurrent changes is lost', async () => {
    const webhook = await stored();
    await race(20, (n) => {
      const { webhooks: some } = n % 2 === 0 ? stores : stores.secondProcess;
      return some.change(of(webhook), (current) => ({
        state: { ...current, address: `${current.address}x` },
        events: [],
      }));
    });
    const address = `${webhook.address}${'x'.repeat(20)}`;
    expect(await webhooks.find(of(webhook))).toEqual({ ...webhook, address });
  });

  testOnBoth(
    'the secrets are read back unchanged, and stay when something else changes',
    async () => {
      const webhook = await stored();
      expect(await secretsOf(webhook)).toEqual(firstSecret('whsec_first'));
      const rotation = { secret: 'whsec_second', overlap: '1h' } as const;
      await webhooks.change(of(webhook), (current, secrets) =>
        rotateSecret(current, secrets(), rotation, later(0)),
      );
      const both = [
        { secret: 'whsec_second', endsAt: undefined },
        { secret: 'whsec_first', endsAt: later(3_600_000) },
      ];
      expect(await secretsOf(webhook)).toEqual(both);
      const draft = { address: 'https://zoo.example/new', kinds: ['key.banned'] };
      await webhooks.change(of(webhook), (current) =>
        changeWebhook(current, draft, destinationRules, later(1)),
      );
      expect(await secretsOf(webhook)).toEqual(both);
      expect(await webhooks.find(of(webhook))).toMatchObject(draft);
    },
  );

  test('an account can neither see nor change webhooks of another', async () => {
    const webhook = await stored();
    const foreign = { ...of(webhook), accountId: await newAccount(stores) };
    const never = () => {
      throw new Error('decided on a webhook of another account');
    };
    const notFound = expect.objectContaining({ code: 'webhook_not_found' });
    expect(await webhooks.list(foreign.accountId)).toEqual([]);
    expect(await webhooks.find(foreign)).toBeUndefined();
    await expect(webhooks.change(foreign, never)).rejects.toEqual(notFound);
    await expect(webhooks.remove(foreign, never)).rejects.toEqual(notFound);
    expect(await webhooks.find(of(webhook))).toEqual(webhook);
  });

  test('a removed webhook is deleted, and its event is stored', async () => {
    const webhook = await stored();
    await takeEvents(stores);
    await webhooks.remove(of(webhook), (current) => removeWebhook(current, later(1)));
    expect(await webhooks.find(of(webhook))).toBeUndefined();
    expect(await takeEvents(stores)).toMatchObject([{ type: 'webhook_removed' }]);
    const change = webhooks.change(of(webhook), (state) => ({ state, events: [] }));
    await expect(change).rejects.toMatchObject({ code: 'webhook_not_found' });
  });

  test('a webhook for an account that does not exist is refused', async () => {
    await expect(storedWebhook(webhooks, 'acct_nobody')).rejects.toThrow();
  });
});
