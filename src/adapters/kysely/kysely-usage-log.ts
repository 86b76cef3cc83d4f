import { sql } from 'kysely';
import { UsageLog, usageOutcomes, type HourOfUsage } from '../../access/ports.ts';
import type { Database } from './database.ts';
import { fromMillis, oneOf, toMillis } from './schema.ts';

export class KyselyUsageLog extends UsageLog {
  readonly #database: Database;

  constructor(database: Database) {
    super();
    this.#database = database;
  }

  async add(hours: readonly HourOfUsage[], lastUsed: ReadonlyMap<string, Date>): Promise<void> {
    await this.#database.transaction(async () => {
      // In one order everywhere: two processes that add at once then wait for each other and never deadlock.
      for (const hour of [...hours].sort(byPlace)) await this.#addHour(hour);
      for (const [keyId, at] of [...lastUsed].sort()) await this.#touch(keyId, at);
    });
  }

  async list(accountId: string, since: Date): Promise<readonly HourOfUsage[]> {
    const rows = await this.#database.run((db) =>
      db
        .selectFrom('usage_hours')
        .selectAll()
        .where('account_id', '=', accountId)
        .where('hour', '>=', toMillis(since))
        .orderBy('hour')
        .orderBy('key_id')
        .orderBy('operation')
        .orderBy('outcome')
        .execute(),
    );
    return rows.map((row) => ({
      accountId: row.account_id,
      keyId: row.key_id,
      operation: row.operation,
      outcome: oneOf(usageOutcomes, row.outcome),
      hour: fromMillis(row.hour),
      requests: Number(row.requests),
    }));
  }

  async sweep(before: Date): Promise<number> {
    const { numDeletedRows } = await this.#database.run((db) =>
      db.deleteFrom('usage_hours').where('hour', '<', toMillis(before)).executeTakeFirst(),
    );
    return Number(numDeletedRows);
  }

  async #addHour({ accountId, keyId, operation, outcome, hour, requests }: HourOfUsage) {
    const row = {
      account_id: accountId,
      hour: toMillis(hour),
      key_id: keyId,
      operation,
      outcome,
      requests: BigInt(requests),
    };
    await this.#database.run((db) =>
      this.#database.kind === 'mysql'
        ? db
            .insertInto('usage_hours')
            .values(row)
            .onDuplicateKeyUpdate(({ ref }) => ({
              requests: sql`${ref('requests')} + ${row.requests}`,
            }))
            .execute()
        : db
            .insertInto('usage_hours')
            .values(row)
            .onConflict((conflict) =>
              conflict
                .columns(['account_id', 'hour', 'key_id', 'operation', 'outcome'])
                .doUpdateSet(({ ref }) => ({
                  requests: sql`${ref('usage_hours.requests')} + ${row.requests}`,
                })),
            )
            .execute(),
    );
  }

  /** Never back: another process may have noted a later use. */
  async #touch(keyId: string, at: Date): Promise<void> {
    await this.#database.run((db) =>
      db
        .updateTable('api_keys')
        .set({ last_used_at: toMillis(at) })
        .where('id', '=', keyId)
        .where((key) =>
          key.or([key('last_used_at', 'is', null), key('last_used_at', '<', toMillis(at))]),
        )
        .execute(),
    );
  }
}

const place = (one: HourOfUsage): string =>
  [one.accountId, one.hour.toISOString(), one.keyId, one.operation, one.outcome].join(' ');

const byPlace = (a: HourOfUsage, b: HourOfUsage): number => (place(a) < place(b) ? -1 : 1);
