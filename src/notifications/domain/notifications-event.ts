import type { DomainEvent } from '../../kernel/domain-event.ts';
import type { Trouble } from './notification.ts';
import type { WebhookEvent } from './webhooks/webhook-event.ts';

interface OfDomain<Type extends string> extends DomainEvent<Type> {
  readonly projectId: string;
  readonly domainId: string;
  readonly host: string;
}

interface OfQuota<Type extends string> extends DomainEvent<Type> {
  readonly used: number;
  readonly limit: number;
  readonly resetsAt: string;
}

interface OperationRemovalNeared extends DomainEvent<'operation_removal_neared'> {
  readonly operation: string;
  readonly removedAt: string;
  readonly days: number;
}

/**
 * What happened to webhooks, and what shows only over time. Times are ISO 8601, and empty where there is none; so is a
 * problem that is not known.
 */
export type NotificationsEvent =
  | WebhookEvent
  | (OfDomain<'domain_found_unhealthy'> & Trouble)
  | OfDomain<'domain_recovered'>
  | (OfDomain<'certificate_found_failing'> & Trouble & { readonly expiresAt: string })
  | (OfDomain<'certificate_recovered'> & { readonly expiresAt: string })
  | OfQuota<'quota_nearly_used'>
  | OfQuota<'quota_used_up'>
  | OperationRemovalNeared;
