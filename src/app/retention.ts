import { idempotencyRetentionMs } from '../access/ports.ts';
import { mostOfKind } from '../domains/domain/attachment/timeline-entries.ts';
import { dayMs } from '../kernel/durations.ts';
import type { RetentionRule } from '../kernel/ports.ts';
import { hiddenTypes } from './subscriptions.ts';

/** Says for every table when its rows are deleted by age, or `kept`. `KyselyRetention` requires every table. */
export const retention = {
  accounts: 'kept',
  api_keys: 'kept',
  api_key_secrets: 'kept',
  people: 'kept',
  sessions: { what: 'ended sessions', since: 'ends_at', keptMs: dayMs },
  second_factors: 'kept',
  sign_in_links: { what: 'expired sign-in links', since: 'ends_at', keptMs: dayMs },
  quota_counters: { what: 'unused counters', since: 'saved_at', keptMs: 3 * dayMs },
  usage_hours: { what: 'usage', since: 'hour', keptMs: 90 * dayMs },
  usage_days: { what: 'sums of usage by day', since: 'day', keptMs: 90 * dayMs },
  pets: 'kept',
  orders: 'kept',
  idempotency_keys: {
    what: 'idempotency keys',
    since: 'created_at',
    keptMs: idempotencyRetentionMs,
  },
  projects: 'kept',
  former_slugs: 'kept',
  deploys: 'kept',
  // Tombstones are kept this long. An edge that missed a removal for longer starts over.
  routes: { what: 'tombstones of removed hosts', since: 'removed_at', keptMs: dayMs },
  certificates: { what: 'tombstones of removed certificates', since: 'removed_at', keptMs: dayMs },
  edge_revision: 'kept',
  domains: 'kept',
  domain_timeline: {
    what: 'checks and attempts in the timelines of domains',
    since: 'occurred_at',
    keptMs: 90 * dayMs,
    only: { column: 'kind', words: Object.keys(mostOfKind) },
  },
  domain_shares: { what: 'ended links to domains', since: 'ends_at', keptMs: dayMs },
  certificate_orders: 'kept',
  own_names: 'kept',
  dns_challenges: { what: 'expired values of DNS challenges', since: 'expires_at', keptMs: dayMs },
  authority_accounts: 'kept',
  authority_ledger: {
    what: 'records of requests to the authority',
    since: 'occurred_at',
    keptMs: 8 * dayMs,
  },
  authority_turn: 'kept',
  job_leases: 'kept',
  backup_times: 'kept',
  events: {
    what: 'delivered events that the audit log does not show',
    since: 'occurred_at',
    keptMs: 7 * dayMs,
    only: { column: 'type', words: hiddenTypes },
    unlessIn: { table: 'deliveries', column: 'event_id' },
  },
  // Rows are deleted when they are delivered.
  deliveries: 'kept',
  mail_requests: { what: 'old requests for mails', since: 'asked_at', keptMs: 2 * dayMs },
  notices: { what: 'old notices', since: 'occurred_at', keptMs: 90 * dayMs },
  // Records are kept as long as an event may be repeated, which would otherwise send its mail again.
  mails: { what: 'records of mails', since: 'send_at', keptMs: 30 * dayMs },
  mail_choices: 'kept',
  mail_troubles: 'kept',
  webhooks: 'kept',
  webhook_deliveries: {
    what: 'old deliveries to webhooks',
    since: 'begun_at',
    keptMs: 30 * dayMs,
  },
  webhook_attempts: { what: 'old attempts at webhooks', since: 'at', keptMs: 30 * dayMs },
} as const satisfies Readonly<Record<string, RetentionRule | 'kept'>>;

export const sweptTables = Object.entries(retention).flatMap(([table, rule]) =>
  rule === 'kept' ? [] : [{ table, ...rule }],
);
