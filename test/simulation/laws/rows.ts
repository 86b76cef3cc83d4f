import type { Schema } from '../../../src/adapters/kysely/database.ts';
import { belongings } from '../../../src/adapters/kysely/belongings.ts';
import { retention } from '../../../src/app/retention.ts';
import { orderSubject } from '../../../src/domains/domain/attachment/domain-certificate.ts';
import { ownSubject } from '../../../src/domains/domain/own/own-name.ts';
import type { Facts, Law, Seen } from './law.ts';
import { dayMs, hourMs } from '../world/durations.ts';

/** Finds a row that nothing uses any more, or says why there is none. `:now` is the true time. */
type RowRule =
  | { readonly leftOver: string }
  | ((seen: Seen) => Facts | undefined)
  | { readonly because: string };

/** Sweeping jobs run hourly and may sleep for six hours. */
const sweptMs = dayMs;

const inUse = { because: 'its rows are in use until they are deleted, and nothing ends them' };

const owned = { because: 'it goes with its owner, as `belongings` says' };

/** Rules in addition to `retention`. A new table does not compile until it has a rule. */
const rowRules: Readonly<Record<keyof Schema, RowRule>> = {
  accounts: inUse,
  api_keys: owned,
  api_key_secrets: owned,
  people: owned,
  sessions: owned,
  second_factors: owned,
  sign_in_links: owned,
  quota_counters: { because: 'retention deletes them' },
  usage_hours: { because: 'retention deletes them' },
  usage_days: { because: 'retention deletes them' },
  pets: inUse,
  orders: inUse,
  idempotency_keys: { because: 'retention deletes them' },
  projects: inUse,
  former_slugs: owned,
  deploys: {
    leftOver: `select id from deploys where state not in ('succeeded', 'failed') and started_at < :now - ${String(dayMs)}`,
  },
  routes: {
    leftOver: `select name as id from routes where removed_at is null and name like '%.%'
      and name not in (select host from domains where state <> 'removed')`,
  },
  certificates: {
    leftOver: `select host as id from certificates where removed_at is null
      and host not in (select host from domains where state <> 'removed')
      and host not in (select host from own_names)`,
  },
  edge_revision: { because: 'it has one row' },
  domains: {
    leftOver: `select id from domains where claim is not null and (state = 'removed' or claimed_until < :now - ${String(dayMs)})`,
  },
  domain_timeline: owned,
  certificate_orders: (seen) => orderWithoutName(seen),
  own_names: inUse,
  dns_challenges: { because: 'retention deletes them' },
  authority_accounts: inUse,
  authority_ledger: { because: 'retention deletes them' },
  job_leases: { because: 'the next run of the job takes it over' },
  backup_times: { because: 'the next copy takes it over' },
  authority_turn: { because: 'it has one row' },
  events: { because: 'it is the audit log, and retention deletes the rest' },
  deliveries: {
    leftOver: `select id from deliveries where parked = 1 or due_at < :now - ${String(hourMs)}`,
  },
  mail_requests: {
    leftOver: `select id from mail_requests where mailed_at is null and asked_at < :now - ${String(hourMs)}`,
  },
  notices: owned,
  mails: {
    leftOver: `select id from mails where (ended_at is null and due_at is null)
      or due_at < :now - ${String(hourMs)}`,
  },
  domain_shares: owned,
  mail_choices: owned,
  mail_troubles: owned,
  webhooks: owned,
  webhook_deliveries: {
    leftOver: `select id from webhook_deliveries
      where (state = 'waiting' and (next_at is null or webhook_id not in (select id from webhooks)))
      or next_at < :now - ${String(hourMs)}`,
  },
  webhook_attempts: { because: 'retention deletes them' },
};

export const noRowIsForgotten: Law = {
  name: 'Every stored row is still used',
  atTheEnd: (seen) => {
    for (const [table, rule] of Object.entries(rowRules)) {
      const facts = leftIn(rule, seen) ?? overAge(table as keyof Schema, seen);
      if (facts) return { table, ...facts };
    }
    return ownerless(seen);
  },
};

/**
 * Finds a row whose owner was deleted. Owners that retention deletes by age are exempt, because their rows may follow
 * later.
 */
export const ownerless = ({ stored }: Pick<Seen, 'stored'>): Facts | undefined => {
  for (const [table, rule] of Object.entries(belongings)) {
    if (typeof rule === 'string' || retention[rule.of] !== 'kept') continue;
    const row = stored.first<{ readonly owner: string }>(
      `select ${rule.by} as owner from ${table} where ${rule.by} not in (select id from ${rule.of}) limit 1`,
    );
    if (row) return { table, 'gone of': rule.of, ...row };
  }
  return undefined;
};

const leftIn = (rule: RowRule, seen: Seen): Facts | undefined => {
  if (typeof rule === 'function') return rule(seen);
  if ('because' in rule) return undefined;
  const now = String(Math.floor(seen.time.now));
  return seen.stored.first<Facts>(`${rule.leftOver.replaceAll(':now', now)} limit 1`);
};

const overAge = (table: keyof Schema, { stored, time }: Seen): Facts | undefined => {
  const rule = retention[table];
  if (rule === 'kept') return undefined;
  const { what } = rule;
  const before = Math.floor(time.now) - rule.keptMs - sweptMs;
  const conditions = [`${rule.since} < ${String(before)}`];
  if ('only' in rule)
    conditions.push(
      `${rule.only.column} in (${rule.only.words.map((word) => `'${word}'`).join()})`,
    );
  if ('unlessIn' in rule) {
    const { table: other, column } = rule.unlessIn;
    conditions.push(`id not in (select ${column} from ${other})`);
  }
  const found = stored.first<{ n: number }>(
    `select count(*) as n from ${table} where ${conditions.join(' and ')}`,
  );
  return found && found.n > 0 ? { what, rows: found.n } : undefined;
};

interface Kept {
  readonly subject: string;
}
interface Ordered {
  readonly id: string;
  readonly generation: number;
}

/** An order exists only while a domain or a platform name is working on it. */
const orderWithoutName = ({ stored }: Seen): Facts | undefined => {
  const isOrdered = `details ->> '$.certificate.work.step' = 'ordered'`;
  const domains = stored.rows<Ordered>(`select id, generation from domains where ${isOrdered}`);
  const own = stored.rows<{ host: string; generation: number }>(
    `select host, generation from own_names where ${isOrdered}`,
  );
  const known = new Set([...domains.map(orderSubject), ...own.map(ownSubject)]);
  const lost = stored
    .rows<Kept>('select subject from certificate_orders')
    .find(({ subject }) => !known.has(subject));
  return lost && { subject: lost.subject };
};
