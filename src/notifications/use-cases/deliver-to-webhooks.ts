import type { Clock } from '../../kernel/ports.ts';
import { ownersKinds } from '../domain/kinds.ts';
import type { Notification } from '../domain/notification.ts';
import {
  isAttempt,
  repeat,
  settle,
  withoutAttempt,
  type Settlement,
  type Attempt,
  type Outcome,
} from '../domain/webhook-delivery.ts';
import { payload, ping, type OwnersNotification, type Payload } from '../domain/payload.ts';
import { signingSecrets, wants, type WebhookEvent } from '../domain/webhook.ts';
import type {
  AskedCalls,
  ClaimedDelivery,
  Outside,
  WebhookDeliveries,
  WebhookMessage,
  WebhookOf,
  Webhooks,
  WebhookSigning,
} from '../webhook-ports.ts';
import { admitAsked } from './manage-webhooks.ts';

interface Ports {
  readonly webhooks: Pick<Webhooks, 'list' | 'find'>;
  readonly deliveries: WebhookDeliveries;
  readonly signing: Pick<WebhookSigning, 'headers'>;
  readonly outside: Outside;
  readonly askedCalls: AskedCalls;
  readonly clock: Clock;
  readonly chance: () => number;
}

type WebhookTested = Extract<WebhookEvent, { type: 'webhook_tested' }>;

export const deliverToWebhooks = (ports: Ports) => {
  const { webhooks, deliveries, clock } = ports;
  return {
    /** Adds a delivery for each webhook that wants the kind. Repetitions add none. */
    tellWebhooks: async (notification: Notification): Promise<void> => {
      if (!isForOwners(notification)) return;
      const { id, kind, accountId } = notification;
      const all = await webhooks.list(accountId);
      const wanting = all.filter((webhook) => wants(webhook, kind));
      await deliveries.add(messageOf(id, payload(notification)), wanting, clock.now());
    },
    /** Adds a test delivery, or makes a waiting one due. Repetitions add none. */
    pingWebhook: async (id: string, asked: WebhookTested): Promise<void> => {
      const webhook = await webhooks.find(asked);
      if (!webhook) return;
      const message = messageOf(id, ping(webhook, asked.occurredAt));
      await deliveries.addTest(message, webhook, clock.now());
    },
    attemptDelivery: (claimed: ClaimedDelivery, signal?: AbortSignal) =>
      attempt(ports, claimed, signal),
    listDeliveries: (of: WebhookOf, limit: number, before?: string) =>
      deliveries.list(of, limit, before),
    findDelivery: (of: WebhookOf, deliveryId: string) => deliveries.find(of, deliveryId),
    /** Uses the same `webhook-id`. @throws DomainError `webhook_not_found`, `webhook_delivery_not_found`, `webhook_off` */
    repeatDelivery: async (of: WebhookOf, deliveryId: string): Promise<void> => {
      await admitAsked(ports, of);
      await deliveries.repeat(of, deliveryId, (delivery, webhook) =>
        repeat(delivery, webhook, clock.now()),
      );
    },
    countWebhooks: async () => {
      const now = clock.now();
      const { oldestDue = now, ...counts } = await deliveries.counts(now);
      return { ...counts, overdueSeconds: Math.max(0, now.getTime() - oldestDue.getTime()) / 1000 };
    },
  };
};

const messageOf = (id: string, body: Payload): WebhookMessage => ({
  accountId: body.data.accountId,
  id,
  type: body.type,
  body: JSON.stringify(body),
});

export interface Attempted {
  readonly outcome: Outcome | undefined;
  readonly fault?: unknown;
  readonly settlement: Settlement | undefined;
}

const attempt = async (
  ports: Ports,
  claimed: ClaimedDelivery,
  signal: AbortSignal | undefined,
): Promise<Attempted> => {
  const { deliveries, clock } = ports;
  const { made, ...fault } = await call(ports, claimed, signal);
  const counted = made && isAttempt(made) ? made : undefined;
  const asked = { address: claimed.webhook?.address, chance: ports.chance() };
  const settlement = await deliveries.settle(claimed, counted, (current) =>
    counted
      ? settle(current, counted, asked)
      : withoutAttempt(
          // The webhook of a deleted account is not called and counts as removed.
          { ...current, webhook: claimed.webhook && current.webhook },
          clock.now(),
        ),
  );
  return { outcome: made, settlement, ...fault };
};

const call = async (
  ports: Ports,
  { delivery, webhook, secrets }: ClaimedDelivery,
  signal: AbortSignal | undefined,
): Promise<{ readonly made: Attempt | undefined; readonly fault?: unknown }> => {
  if (webhook?.status.state !== 'on') return { made: undefined };
  const at = ports.clock.now();
  const { messageId: id, body } = delivery;
  let signed: Readonly<Record<string, string>>;
  try {
    signed = ports.signing.headers({ id, body }, signingSecrets(secrets(), at), at);
  } catch (fault) {
    return { made: { ...unsigned, at }, fault };
  }
  const headers = { 'content-type': 'application/json', ...signed };
  return {
    made: { ...(await ports.outside.post(webhook.address, { headers, body }, signal)), at },
  };
};

/** For example, the secrets are encrypted with a key that this process does not have. */
const unsigned: Outcome = {
  kind: 'failed',
  why: 'unsigned',
  tookMs: 0,
  explanation: "We could not sign the message. This is our fault, not your receiver's.",
};

const isForOwners = (notification: Notification): notification is OwnersNotification =>
  ownersKinds.some((kind) => kind === notification.kind);
