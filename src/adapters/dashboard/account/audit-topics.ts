import type { AnyEvent } from './audit-words.ts';

/** What people look for in an audit log, as they call it. */
export const topicNames = {
  account: 'Account and plan',
  people: 'People and sign-in',
  keys: 'API keys',
  projects: 'Projects and deploys',
  domains: 'Domains and certificates',
  webhooks: 'Webhooks',
  animals: 'Animals and orders',
} as const;

export type Topic = keyof typeof topicNames;

/** Every event has one. A new one does not compile until it has. */
const topics: Readonly<Record<AnyEvent['type'], Topic>> = {
  account_opened: 'account',
  plan_changed: 'account',
  person_invited: 'people',
  person_removed: 'people',
  person_signed_in: 'people',
  sign_in_link_made: 'people',
  link_mail_wanted: 'people',
  sign_in_link_mailed: 'people',
  password_changed: 'people',
  session_revoked: 'people',
  api_key_issued: 'keys',
  api_key_rotated: 'keys',
  api_key_banned: 'keys',
  api_key_ban_lifted: 'keys',
  api_key_revoked: 'keys',
  project_created: 'projects',
  deploy_succeeded: 'projects',
  deploy_failed: 'projects',
  deploy_discarded: 'projects',
  deploy_deleted: 'projects',
  site_rolled_back: 'projects',
  domain_settings_changed: 'domains',
  domain_added: 'domains',
  domain_prepared: 'domains',
  domain_unprepared: 'domains',
  domain_verified: 'domains',
  domain_live: 'domains',
  domain_removed: 'domains',
  domain_contested: 'domains',
  domain_shared: 'domains',
  domain_share_ended: 'domains',
  domain_unhealthy: 'domains',
  domain_recovered: 'domains',
  certificate_ordered: 'domains',
  certificate_issued: 'domains',
  certificate_renewed: 'domains',
  certificate_failed: 'domains',
  certificate_failing: 'domains',
  certificate_recovered: 'domains',
  quota_warning: 'keys',
  quota_reached: 'keys',
  operation_removal: 'keys',
  webhook_added: 'webhooks',
  webhook_changed: 'webhooks',
  webhook_rotated: 'webhooks',
  webhook_switched_on: 'webhooks',
  webhook_switched_off: 'webhooks',
  webhook_removed: 'webhooks',
  webhook_tested: 'webhooks',
  webhook_repeated: 'webhooks',
  pet_added: 'animals',
  pet_reserved: 'animals',
  pet_released: 'animals',
  pet_sold: 'animals',
  order_approved: 'animals',
  order_delivered: 'animals',
};

/** The events of a topic, by their types. */
export const kindsOf = (topic: Topic): readonly string[] =>
  Object.entries(topics).flatMap(([type, its]) => (its === topic ? [type] : []));

export const topicOf = (text: string | null): Topic | undefined =>
  text !== null && Object.hasOwn(topicNames, text) ? (text as Topic) : undefined;
