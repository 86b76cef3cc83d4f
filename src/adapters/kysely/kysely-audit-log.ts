import type { ExpressionBuilder } from 'kysely';
import { AuditLog, type AuditEntry } from '../../access/ports.ts';
import type { StoredEvent } from '../../kernel/domain-event.ts';
import type { Database } from './database.ts';
import { failureOf } from './failure.ts';
import { actorFrom, fromMillis, toMillis, type Schema } from './schema.ts';

type Place = Pick<AuditEntry, 'id' | 'occurredAt'>;

export class KyselyAuditLog extends AuditLog {
  readonly #database: Database;

  constructor(database: Database) {
    super();
    this.#database = database;
  }

  async record({ id, actor, event }: StoredEvent): Promise<void> {
    const { type, accountId, occurredAt, ...details } = event;
    const row = {
      event_id: id,
      account_id: accountId,
      what: type,
      details: JSON.stringify(details),
      occurred_at: toMillis(occurredAt),
      actor,
    };
    try {
      await this.#database.run((db) => db.insertInto('audit_log').values(row).execute());
    } catch (error) {
      if (failureOf(error) !== 'duplicate') throw error;
    }
  }

  async list(accountId: string, limit: number, before?: Place): Promise<readonly AuditEntry[]> {
    const rows = await this.#database.run((db) => {
      const entries = db.selectFrom('audit_log').selectAll().where('account_id', '=', accountId);
      return (before ? entries.where(isBefore(before)) : entries)
        .orderBy('occurred_at', 'desc')
        .orderBy('event_id', 'desc')
        .limit(limit)
        .execute();
    });
    return rows.map((row) => ({
      id: row.event_id,
      accountId: row.account_id,
      actor: actorFrom(row.actor),
      what: row.what,
      occurredAt: fromMillis(row.occurred_at),
      details: JSON.parse(row.details) as Record<string, string | number>,
    }));
  }
}

/** The first condition says less than the second, but an index can follow it. */
const isBefore =
  ({ id, occurredAt }: Place) =>
  (eb: ExpressionBuilder<Schema, 'audit_log'>) => {
    const at = toMillis(occurredAt);
    return eb.and([
      eb('occurred_at', '<=', at),
      eb.or([eb('occurred_at', '<', at), eb('event_id', '<', id)]),
    ]);
  };
