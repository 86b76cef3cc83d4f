import { hostOf } from '../domain/webhooks/address.ts';
import { webhookNotFound } from '../domain/notifications-error.ts';
import type { AskedCalls, WebhookOf, Webhooks } from '../webhook-ports.ts';

interface Ports {
  readonly webhooks: Pick<Webhooks, 'find'>;
  readonly askedCalls: AskedCalls;
}

/** Before a call that somebody asks for. @throws DomainError `webhook_not_found`, and whatever `AskedCalls` throws */
export const admitAsked = async ({ webhooks, askedCalls }: Ports, of: WebhookOf): Promise<void> => {
  const webhook = await webhooks.find(of);
  if (!webhook) throw webhookNotFound(of.webhookId);
  await askedCalls.admit(of.accountId, hostOf(webhook.address));
};
