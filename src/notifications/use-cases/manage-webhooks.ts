import type { Overlap } from '../../kernel/overlap.ts';
import type { Clock, Ids } from '../../kernel/ports.ts';
import { type DestinationRules, hostOf } from '../domain/destination.ts';
import { webhookNotFound } from '../domain/notifications-error.ts';
import {
  addWebhook,
  changeWebhook,
  firstSecret,
  removeWebhook,
  rotateSecret,
  switchOff,
  switchOn,
  testWebhook,
  type Webhook,
  type WebhookDraft,
} from '../domain/webhook.ts';
import type { AskedCalls, WebhookOf, Webhooks, WebhookSigning } from '../webhook-ports.ts';

interface Ports {
  readonly webhooks: Webhooks;
  readonly signing: Pick<WebhookSigning, 'newSecret'>;
  readonly askedCalls: AskedCalls;
  readonly destinationRules: DestinationRules;
  readonly ids: Ids;
  readonly clock: Clock;
}

interface Shown {
  readonly webhook: Webhook;
  readonly secret: string;
}

export const manageWebhooks = ({
  webhooks,
  askedCalls,
  signing,
  destinationRules,
  ids,
  clock,
}: Ports) => ({
  addWebhook: async (accountId: string, draft: WebhookDraft): Promise<Shown> => {
    const [id, secret] = [ids.next('hook'), signing.newSecret()];
    const webhook = await webhooks.add(accountId, (current) => ({
      ...addWebhook({ ...draft, id, accountId, current }, destinationRules, clock.now()),
      secrets: firstSecret(secret),
    }));
    return { webhook, secret };
  },
  listWebhooks: (accountId: string) => webhooks.list(accountId),
  findWebhook: (of: WebhookOf) => webhooks.find(of),
  changeWebhook: (of: WebhookOf, draft: WebhookDraft) =>
    webhooks.change(of, (webhook) => changeWebhook(webhook, draft, destinationRules, clock.now())),
  rotateWebhookSecret: async (of: WebhookOf, overlap: Overlap): Promise<Shown> => {
    const secret = signing.newSecret();
    const webhook = await webhooks.change(of, (current, secrets) =>
      rotateSecret(current, secrets(), { secret, overlap }, clock.now()),
    );
    return { webhook, secret };
  },
  switchWebhookOn: (of: WebhookOf) =>
    webhooks.change(of, (webhook) => switchOn(webhook, clock.now())),
  /** Cancels waiting deliveries. @throws DomainError `webhook_not_found` */
  switchWebhookOff: (of: WebhookOf) =>
    webhooks.change(of, (webhook) => switchOff(webhook, 'by_hand', clock.now())),
  removeWebhook: (of: WebhookOf) =>
    webhooks.remove(of, (webhook) => removeWebhook(webhook, clock.now())),
  testWebhook: async (of: WebhookOf) => {
    await admitAsked({ webhooks, askedCalls }, of);
    return webhooks.change(of, (webhook) => testWebhook(webhook, clock.now()));
  },
});

interface CallPorts {
  readonly webhooks: Pick<Webhooks, 'find'>;
  readonly askedCalls: AskedCalls;
}

/** Limits calls that people request. @throws DomainError `webhook_not_found`, and what `AskedCalls` throws */
export const admitAsked = async (
  { webhooks, askedCalls }: CallPorts,
  of: WebhookOf,
): Promise<void> => {
  const webhook = await webhooks.find(of);
  if (!webhook) throw webhookNotFound(of.webhookId);
  await askedCalls.admit(of.accountId, hostOf(webhook.address));
};
