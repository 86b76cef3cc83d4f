import { type Decision, DomainError, type DomainEvent } from '../../kernel/decision.ts';
import { type Overlap, overlaps } from '../../kernel/overlap.ts';
import { checkedAddress, type DestinationRules, receiverOf } from './destination.ts';
import { ownersKinds } from './kinds.ts';
import { givenUpReasons, type OwnersKind } from './notification.ts';
import { type NotificationsErrorCode, webhookInvalid } from './notifications-error.ts';

export const offReasons = [...givenUpReasons, 'by_hand'] as const;
export type OffReason = (typeof offReasons)[number];

interface OfWebhook<Type extends string> extends DomainEvent<Type> {
  readonly webhookId: string;
  readonly receiver: string;
}

export type WebhookEvent =
  | OfWebhook<'webhook_added'>
  | OfWebhook<'webhook_changed'>
  | (OfWebhook<'webhook_rotated'> & { readonly oldSecretUntil: string })
  | OfWebhook<'webhook_switched_on'>
  | (OfWebhook<'webhook_switched_off'> & { readonly reason: OffReason })
  | OfWebhook<'webhook_removed'>
  | OfWebhook<'webhook_tested'>
  | (OfWebhook<'webhook_repeated'> & { readonly deliveryId: string });

export interface WebhookSecret {
  readonly secret: string;
  readonly endsAt: Date | undefined;
}

export type WebhookSecrets = readonly WebhookSecret[];

const mostSecrets = 5;

export const firstSecret = (secret: string): WebhookSecrets => [{ secret, endsAt: undefined }];

export interface Rotation extends WebhookDecision {
  readonly secrets: WebhookSecrets;
}

/** Older secrets keep an earlier end. @throws DomainError `webhook_limit_reached` if too many would sign */
export const rotateSecret = (
  webhook: Webhook,
  secrets: WebhookSecrets,
  { secret, overlap }: { readonly secret: string; readonly overlap: Overlap },
  now: Date,
): Rotation => {
  const until = new Date(now.getTime() + overlaps[overlap]);
  const old = secrets
    .map(({ secret: before, endsAt }) => ({ secret: before, endsAt: earlier(endsAt, until) }))
    .filter(({ endsAt }) => endsAt > now);
  if (old.length >= mostSecrets) throw tooManySecrets();
  return {
    state: { ...webhook, oldSecretsUntil: old.length > 0 ? until : undefined },
    secrets: [...firstSecret(secret), ...old],
    events: [
      { type: 'webhook_rotated', ...about(webhook, now), oldSecretUntil: until.toISOString() },
    ],
  };
};

export const signingSecrets = (secrets: WebhookSecrets, now: Date): readonly string[] =>
  secrets.filter(({ endsAt }) => !endsAt || endsAt > now).map(({ secret }) => secret);

const tooManySecrets = () =>
  new DomainError<NotificationsErrorCode>(
    'webhook_limit_reached',
    `Messages are already signed with ${String(mostSecrets)} secrets. Rotate again once one of them has ended, or end the old ones at once.`,
  );

const earlier = (one: Date | undefined, other: Date): Date => (one && one < other ? one : other);

export const mostWebhooks = 10;

export type WebhookStatus =
  | {
      readonly state: 'on';
      readonly failingSince: Date | undefined;
      readonly failedAt: Date | undefined;
      readonly isSlow: boolean;
    }
  | { readonly state: 'off'; readonly reason: OffReason; readonly offSince: Date };

export interface Webhook {
  readonly id: string;
  readonly accountId: string;
  readonly address: string;
  /** `all` includes kinds of later versions. A list has at least one kind, in the order of the `kinds` table. */
  readonly kinds: 'all' | readonly OwnersKind[];
  readonly createdAt: Date;
  /** Until then the previous secret signs too; older ones may end earlier. */
  readonly oldSecretsUntil: Date | undefined;
  readonly status: WebhookStatus;
}

export type WebhookDecision = Decision<Webhook, WebhookEvent>;

export interface WebhookDraft {
  readonly address: string;
  readonly kinds: 'all' | readonly string[];
}

const fresh = (): WebhookStatus => ({
  state: 'on',
  isSlow: false,
  failingSince: undefined,
  failedAt: undefined,
});

interface NewWebhook extends WebhookDraft {
  readonly id: string;
  readonly accountId: string;
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
    id,
    accountId,
    ...checked(draft, rules),
    createdAt: now,
    oldSecretsUntil: undefined,
    status: fresh(),
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
  const isSame = !isMoved && String(kinds) === String(webhook.kinds);
  if (isSame) return { state: webhook, events: [] };
  const status = isMoved && webhook.status.state === 'on' ? fresh() : webhook.status;
  const state = { ...webhook, address, kinds, status };
  return { state, events: [{ type: 'webhook_changed', ...about(state, now) }] };
};

export const switchOn = (webhook: Webhook, now: Date): WebhookDecision => {
  if (webhook.status.state === 'on') return { state: webhook, events: [] };
  const state = { ...webhook, status: fresh() };
  return { state, events: [{ type: 'webhook_switched_on', ...about(state, now) }] };
};

export const switchOff = (webhook: Webhook, reason: OffReason, now: Date): WebhookDecision => {
  if (webhook.status.state === 'off') return { state: webhook, events: [] };
  const state: Webhook = { ...webhook, status: { state: 'off', reason, offSince: now } };
  return { state, events: [{ type: 'webhook_switched_off', ...about(state, now), reason }] };
};

export const removeWebhook = (webhook: Webhook, now: Date): readonly WebhookEvent[] => [
  { type: 'webhook_removed', ...about(webhook, now) },
];

/** Requests a test message. @throws DomainError `webhook_off` */
export const testWebhook = (webhook: Webhook, now: Date): WebhookDecision => ({
  state: mustBeOn(webhook),
  events: [{ type: 'webhook_tested', ...about(webhook, now) }],
});

export const mustBeOn = (webhook: Webhook): Webhook => {
  if (webhook.status.state === 'on') return webhook;
  const message = 'This webhook is switched off. Switch it on first.';
  throw new DomainError<NotificationsErrorCode>('webhook_off', message);
};

export const isSlow = ({ status }: Webhook): boolean => status.state === 'on' && status.isSlow;

export const wants = ({ kinds, status }: Webhook, kind: OwnersKind): boolean =>
  status.state === 'on' && (kinds === 'all' || kinds.includes(kind));

export const about = (webhook: Pick<Webhook, 'id' | 'accountId' | 'address'>, now: Date) => ({
  accountId: webhook.accountId,
  occurredAt: now,
  webhookId: webhook.id,
  receiver: receiverOf(webhook.address),
});

const checked = (draft: WebhookDraft, rules: DestinationRules) => ({
  address: checkedAddress(draft.address, rules),
  kinds: draft.kinds === 'all' ? draft.kinds : chosenKinds(draft.kinds),
});

const chosenKinds = (words: readonly string[]): readonly OwnersKind[] => {
  const unknown = words.find((word) => !ownersKinds.some((known) => known === word));
  if (unknown !== undefined) throw webhookInvalid('One of the kinds is unknown.');
  const kinds = ownersKinds.filter((kind) => words.includes(kind));
  if (kinds.length === 0) throw webhookInvalid('Choose at least one kind.');
  return kinds;
};
