import type { OwnersKind } from '../../../notifications/domain/notification.ts';

export const mailGroups = ['Domains', 'Certificates', 'Deploys', 'API and webhooks'] as const;
export type MailGroup = (typeof mailGroups)[number];

/** Where people look for each kind when they choose. */
export const groupOf = {
  'domain.live': 'Domains',
  'domain.removed': 'Domains',
  'domain.expired': 'Domains',
  'domain.contested': 'Domains',
  'domain.unhealthy': 'Domains',
  'domain.recovered': 'Domains',
  'certificate.failing': 'Certificates',
  'certificate.recovered': 'Certificates',
  'deploy.failed': 'Deploys',
  'key.banned': 'API and webhooks',
  'quota.warning': 'API and webhooks',
  'quota.reached': 'API and webhooks',
  'operation.removal': 'API and webhooks',
  'webhook.off': 'API and webhooks',
} as const satisfies Readonly<Record<OwnersKind, MailGroup>>;
