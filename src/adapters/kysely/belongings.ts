import { sql } from 'kysely';
import type { Database, Schema } from './database.ts';
import { padded } from './engine/statements.ts';

type Column<Table extends keyof Schema> = keyof Schema[Table] & string;

/** `by` is the column with the owner's id; `key` is the column that identifies the row. */
interface Owned<Table extends keyof Schema> {
  readonly of: keyof Schema;
  readonly by: Column<Table>;
  readonly key: Column<Table>;
}

type NotOwned = 'ours' | 'ages' | 'anonymous';

/** Rows are deleted with their owner, in this order. A new table does not compile until it is listed. */
export const belongings = {
  orders: { of: 'accounts', by: 'account_id', key: 'id' },
  pets: { of: 'accounts', by: 'account_id', key: 'id' },
  api_key_secrets: { of: 'api_keys', by: 'key_id', key: 'secret_hash' },
  api_keys: { of: 'accounts', by: 'account_id', key: 'id' },
  idempotency_keys: { of: 'accounts', by: 'account_id', key: 'idempotency_key' },
  usage_hours: { of: 'accounts', by: 'account_id', key: 'hour' },
  usage_days: { of: 'accounts', by: 'account_id', key: 'day' },
  sessions: { of: 'people', by: 'person_id', key: 'id' },
  second_factors: { of: 'people', by: 'person_id', key: 'person_id' },
  sign_in_links: { of: 'people', by: 'person_id', key: 'secret_hash' },
  mails: { of: 'people', by: 'person_id', key: 'id' },
  mail_choices: { of: 'people', by: 'person_id', key: 'kind_off' },
  mail_troubles: { of: 'people', by: 'person_id', key: 'person_id' },
  people: { of: 'accounts', by: 'account_id', key: 'id' },
  notices: { of: 'accounts', by: 'account_id', key: 'id' },
  webhook_attempts: { of: 'webhook_deliveries', by: 'delivery_id', key: 'id' },
  webhook_deliveries: { of: 'accounts', by: 'account_id', key: 'id' },
  webhooks: { of: 'accounts', by: 'account_id', key: 'id' },
  domain_timeline: { of: 'domains', by: 'domain_id', key: 'id' },
  domain_shares: { of: 'domains', by: 'domain_id', key: 'id' },
  domains: { of: 'projects', by: 'project_id', key: 'id' },
  former_slugs: { of: 'projects', by: 'project_id', key: 'slug' },
  deploys: { of: 'projects', by: 'project_id', key: 'id' },
  projects: { of: 'accounts', by: 'account_id', key: 'id' },
  deliveries: { of: 'events', by: 'event_id', key: 'id' },
  events: { of: 'accounts', by: 'account_id', key: 'id' },
  // The whole service counts these rows, so they stay after their account has ended.
  authority_ledger: 'anonymous',
  // These rows mark removals, which every edge reads within a day.
  routes: 'ages',
  certificates: 'ages',
  mail_requests: 'ages',
  quota_counters: 'ages',
  // These rows are deleted when their domain is removed.
  certificate_orders: 'ages',
  dns_challenges: 'ages',
  // Names without a project are deleted once their last order is old enough.
  own_names: 'ages',
  accounts: 'ours',
  edge_revision: 'ours',
  authority_accounts: 'ours',
  authority_turn: 'ours',
  job_leases: 'ours',
  backup_times: 'ours',
} as const satisfies { readonly [Table in keyof Schema]: Owned<Table> | NotOwned };

type Rule = { readonly table: keyof Schema } & Owned<never>;

const rules = Object.entries(belongings).flatMap(([table, rule]): readonly Rule[] =>
  typeof rule === 'string' ? [] : [{ table: table as keyof Schema, ...(rule as Owned<never>) }],
);

const slice = 500;

/**
 * Deletes all rows that belong to these, directly or indirectly. Each step has its own transaction, so a run may be
 * repeated.
 * @param except tables whose rows stay
 */
export const forgetRowsOf = async (
  database: Database,
  table: keyof Schema,
  ids: readonly (string | bigint)[],
  except: readonly (keyof Schema)[] = [],
): Promise<void> => {
  const forget = async (owner: keyof Schema, owners: readonly (string | bigint)[]) => {
    for (const rule of rules.filter(({ of, table }) => of === owner && !except.includes(table))) {
      for (;;) {
        const keys = await keysOf(database, rule, owners);
        if (keys.length === 0) break;
        await forget(rule.table, keys);
        await database.transaction((db) =>
          sql`delete from ${sql.table(rule.table)} where ${isOwned(rule, owners)}
            and ${sql.ref(rule.key)} in (${sql.join(padded(keys))})`.execute(db),
        );
      }
    }
  };
  await forget(table, ids);
};

const keysOf = async (
  database: Database,
  rule: Rule,
  owners: readonly (string | bigint)[],
): Promise<readonly (string | bigint)[]> => {
  const { rows } = await database.transaction((db) =>
    sql<{ key: string | bigint }>`
      select ${sql.ref(rule.key)} as ${sql.ref('key')} from ${sql.table(rule.table)}
      where ${isOwned(rule, owners)} limit ${sql.lit(slice)}`.execute(db),
  );
  return rows.map(({ key }) => key);
};

const isOwned = ({ by }: Rule, owners: readonly (string | bigint)[]) =>
  sql`${sql.ref(by)} in (${sql.join(padded(owners))})`;
