import { AuditLog, type AuditEntry } from '../../access/ports.ts';
import type { StoredEvent } from '../../kernel/domain-event.ts';
import type { Database } from './database.ts';
import { failureOf } from './failure.ts';
import { fromMillis, toMillis } from './schema.ts';

export class KyselyAuditLog extends AuditLog {
  readonly #database: Database;

  constructor(database: Database) {
    super();
    this.#database = database;
  }

  async record({ id, event }: StoredEvent): Promise<void> {
    const { type, accountId, occurredAt, ...details } = event;
    const row = {
      event_id: id,
      account_id: accountId,
      what: type,
      details: JSON.stringify(details),
      occurred_at: toMillis(occurredAt),
    };
    try {
      await this.#database.run((db) => db.insertInto('audit_log').values(row).execute());
    } catch (error) {
      if (failureOf(error) !== 'duplicate') throw error;
    }
  }

  async list(accountId: string, limit: number): Promise<readonly AuditEntry[]> {
    const rows = await this.#database.run((db) =>
      db
        .selectFrom('audit_log')
        .selectAll()
        .where('account_id', '=', accountId)
        .orderBy('occurred_at', 'desc')
        .orderBy('event_id', 'desc')
        .limit(limit)
        .execute(),
    );
    return rows.map((row) => ({
      id: row.event_id,
      accountId: row.account_id,
      what: row.what,
      occurredAt: fromMillis(row.occurred_at),
      details: JSON.parse(row.details) as Record<string, string | number>,
    }));
  }
}
