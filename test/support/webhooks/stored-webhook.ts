import { UuidIds } from '../../../src/adapters/system/system-ports.ts';
import {
  firstSecret,
  addWebhook,
  type Webhook,
  type WebhookDraft,
} from '../../../src/notifications/domain/webhook.ts';
import type { Claiming, Webhooks } from '../../../src/notifications/webhook-ports.ts';
import { later } from '../accounts.ts';

const ids = new UuidIds();

/** All deliveries that are due. */
export const allDue: Claiming = {
  limit: 500,
  isSlow: false,
  choose: (due) => due,
  except: { webhooks: [], accounts: [], receivers: [] },
};

export const destinationRules = { allowsThisMachine: true };

export const webhookDecision = (accountId: string, draft: Partial<WebhookDraft> = {}) =>
  addWebhook(
    {
      id: ids.next('hook'),
      accountId,
      current: 0,
      address: 'https://hooks.zoo.example/in',
      kinds: ['domain.live', 'key.banned'],
      ...draft,
    },
    destinationRules,
    later(0),
  );

/** Adds a webhook of the account through the port. */
export const storedWebhook = (
  webhooks: Webhooks,
  accountId: string,
  draft: Partial<WebhookDraft> = {},
): Promise<Webhook> =>
  webhooks.add(accountId, () => ({
    ...webhookDecision(accountId, draft),
    secrets: firstSecret('whsec_first'),
  }));
