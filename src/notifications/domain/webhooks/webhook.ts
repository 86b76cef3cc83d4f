import type { Decision } from '../../../kernel/decision.ts';
import { DomainError } from '../../../kernel/domain-error.ts';
import { webhookInvalid, type NotificationsErrorCode } from '../notifications-error.ts';
import { ownersKinds } from '../kinds.ts';
import type { OwnersKind } from '../notification.ts';
import { checkedAddress, receiverOf } from './address.ts';
import type { DestinationRules } from './destination.ts';
import type { OffReason, WebhookEvent } from './webhook-event.ts';

export const mostWebhooks = 10;

export type WebhookStatus =
  | {
      readonly state: 'on';
      /** The first failure since the last success, later by all pauses in which nothing was to be sent. */
      readonly failingSince: Date | undefined;
      /** The last failure since the last success. */
      readonly failedAt: Date | undefined;
      /** Whether the last attempt took long. Slow receivers wait only for each other. */
      readonly isSlow: boolean;
    }
  | { readonly state: 'off'; readonly reason: OffReason; readonly offSince: Date };

/** An address that an account wants to be called, without its secrets. */
export interface Webhook {
  readonly id: string;
  readonly accountId: string;
  readonly address: string;
  /** What it is called for; at least one, in the order of the table. */
  readonly kinds: readonly OwnersKind[];
  readonly createdAt: Date;
  /** Until then the secret before the current one signs too; older ones may end earlier. */
  readonly oldSecretsUntil: Date | undefined;
  readonly status: WebhookStatus;
}

export type WebhookDecision = Decision<Webhook, WebhookEvent>;

/** What the owner chooses. */
export interface WebhookDraft {
  readonly address: string;
  readonly kinds: readonly string[];
}

const fresh = (): WebhookStatus => ({
  ...{ state: 'on', isSlow: false },
  ...{ failingSince: undefined, failedAt: undefined },
});

interface NewWebhook extends WebhookDraft {
  readonly id: string;
  readonly accountId: string;
  /** How many webhooks the account has. */
  readonly current: number;
}

/** @throws DomainError `webhook_limit_reached`, `webhook_invalid` */
export const addWebhook = (
  { id, accountId, current, ...draft }: NewWebhook,
  rules: DestinationRules,
  now: Date,
): WebhookDecision => {
  if (current >= mostWebhooks) {
    throw new DomainError<NotificationsErrorCode>(
      'webhook_limit_reached',
      `An account can have ${String(mostWebhooks)} webhooks. Remove one first.`,
    );
  }
  const state: Webhook = {
    ...{ id, accountId, ...checked(draft, rules) },
    ...{ createdAt: now, oldSecretsUntil: undefined, status: fresh() },
  };
  return { state, events: [{ type: 'webhook_added', ...about(state, now) }] };
};

/** A new address starts without failures. @throws DomainError `webhook_invalid` */
export const changeWebhook = (
  webhook: Webhook,
  draft: WebhookDraft,
  rules: DestinationRules,
  now: Date,
): WebhookDecision => {
  const { address, kinds } = checked(draft, rules);
  const isMoved = address !== webhook.address;
  const isSame = !isMoved && kinds.join() === webhook.kinds.join();
  if (isSame) return { state: webhook, events: [] };
  const status = isMoved && webhook.status.state === 'on' ? fresh() : webhook.status;
  const state = { ...webhook, address, kinds, status };
  return { state, events: [{ type: 'webhook_changed', ...about(state, now) }] };
};

/** Quiet where it is on. It starts without failures. */
export const switchOn = (webhook: Webhook, now: Date): WebhookDecision => {
  if (webhook.status.state === 'on') return { state: webhook, events: [] };
  const state = { ...webhook, status: fresh() };
  return { state, events: [{ type: 'webhook_switched_on', ...about(state, now) }] };
};

/** Quiet where it is off. Deliveries that wait are given up. */
export const switchOff = (webhook: Webhook, reason: OffReason, now: Date): WebhookDecision => {
  if (webhook.status.state === 'off') return { state: webhook, events: [] };
  const state: Webhook = { ...webhook, status: { state: 'off', reason, offSince: now } };
  return { state, events: [{ type: 'webhook_switched_off', ...about(state, now), reason }] };
};

export const removeWebhook = (webhook: Webhook, now: Date): readonly WebhookEvent[] => [
  { type: 'webhook_removed', ...about(webhook, now) },
];

/** Asks for a message that shows whether the receiver works. @throws DomainError `webhook_off` */
export const testWebhook = (webhook: Webhook, now: Date): WebhookDecision => ({
  state: mustBeOn(webhook),
  events: [{ type: 'webhook_tested', ...about(webhook, now) }],
});

export const mustBeOn = (webhook: Webhook): Webhook => {
  if (webhook.status.state === 'on') return webhook;
  const message = 'This webhook is switched off. Switch it on first.';
  throw new DomainError<NotificationsErrorCode>('webhook_off', message);
};

/** Whether its deliveries wait among the slow ones. */
export const isSlow = ({ status }: Webhook): boolean => status.state === 'on' && status.isSlow;

/** Whether the webhook is called for it. */
export const wants = ({ kinds, status }: Webhook, kind: OwnersKind): boolean =>
  status.state === 'on' && kinds.includes(kind);

export const about = (webhook: Pick<Webhook, 'id' | 'accountId' | 'address'>, now: Date) => ({
  ...{ accountId: webhook.accountId, occurredAt: now },
  ...{ webhookId: webhook.id, receiver: receiverOf(webhook.address) },
});

const checked = (draft: WebhookDraft, rules: DestinationRules) => {
  const unknown = draft.kinds.find((kind) => !ownersKinds.some((known) => known === kind));
  if (unknown !== undefined) throw webhookInvalid('One of the kinds is unknown.');
  const kinds = ownersKinds.filter((kind) => draft.kinds.includes(kind));
  if (kinds.length === 0) throw webhookInvalid('Choose at least one kind.');
  return { address: checkedAddress(draft.address, rules), kinds };
};
