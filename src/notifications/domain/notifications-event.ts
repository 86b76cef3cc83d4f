import type { DomainEvent } from '../../kernel/domain-event.ts';
import type { Trouble } from './notification.ts';
import type { WebhookEvent } from './webhooks/webhook-event.ts';

interface OfDomain<Type extends string> extends DomainEvent<Type> {
  readonly projectId: string;
  readonly domainId: string;
  readonly host: string;
}

/**
 * What happened to webhooks, and what shows only over time. Times are ISO 8601, and empty where there is none; so is a
 * problem that is not known.
 */
export type NotificationsEvent =
  | WebhookEvent
  | (OfDomain<'domain_unhealthy'> & Trouble)
  | OfDomain<'domain_recovered'>
  | (OfDomain<'certificate_failing'> & Trouble & { readonly expiresAt: string })
  | (OfDomain<'certificate_recovered'> & { readonly expiresAt: string });
