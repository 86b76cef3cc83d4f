import type { DomainEvent } from '../../../kernel/domain-event.ts';
import { givenUpReasons } from '../notification.ts';

/** Why a webhook is off. */
export const offReasons = [...givenUpReasons, 'by_hand'] as const;
export type OffReason = (typeof offReasons)[number];

interface OfWebhook<Type extends string> extends DomainEvent<Type> {
  readonly webhookId: string;
  /** The host that is called. */
  readonly receiver: string;
}

/** What happened to a webhook. Times are ISO 8601. */
export type WebhookEvent =
  | OfWebhook<'webhook_added'>
  | OfWebhook<'webhook_changed'>
  | (OfWebhook<'webhook_rotated'> & { readonly oldSecretUntil: string })
  | OfWebhook<'webhook_switched_on'>
  | (OfWebhook<'webhook_switched_off'> & { readonly reason: OffReason })
  | OfWebhook<'webhook_removed'>
  | OfWebhook<'webhook_tested'>
  | (OfWebhook<'webhook_repeated'> & { readonly deliveryId: string });
