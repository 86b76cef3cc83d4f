import type { ExpressionBuilder, Kysely, Selectable } from 'kysely';
import { AuditLog, type AuditEntry, type AuditSearch } from '../../../access/ports.ts';
import type { StoredEvent } from '../../../kernel/domain-event.ts';
import type { Database } from '../database.ts';
import { failureOf } from '../failure.ts';
import { actorFrom, fromMillis, toMillis, type Schema } from '../schema.ts';

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

  async list(
    accountId: string,
    limit: number,
    search: AuditSearch = {},
  ): Promise<readonly AuditEntry[]> {
    const rows = await this.#database.run(async (db) => {
      const [first, ...others] = stretchesOf(search).map((stretch) =>
        db.selectFrom(newestIn(db, accountId, stretch).limit(limit).as('stretch')).selectAll(),
      );
      if (!first) return [];
      return await others
        .reduce((all, one) => all.unionAll(one), first)
        .orderBy('occurred_at', 'desc')
        .orderBy('event_id', 'desc')
        .limit(limit)
        .execute();
    });
    return rows.map(fromRow);
  }
}

/** A range that one index holds in time order; null is how earlier releases stored `service`. */
interface Stretch {
  readonly actor: string | null | undefined;
  readonly what: string | undefined;
  readonly before: Place | undefined;
}

/** The newest of each range are found by index, and the newest overall are among them. */
const stretchesOf = ({ actor, kinds, before }: AuditSearch): readonly Stretch[] => {
  const actors = actor === 'service' ? [actor, null] : [actor];
  return actors.flatMap((one) =>
    (kinds ?? [undefined]).map((what) => ({ actor: one, what, before })),
  );
};

const newestIn = (db: Kysely<Schema>, accountId: string, { actor, what, before }: Stretch) =>
  db
    .selectFrom('audit_log')
    .selectAll()
    .where('account_id', '=', accountId)
    .$if(actor !== undefined, (of) => of.where('actor', actor === null ? 'is' : '=', actor ?? null))
    .$if(what !== undefined, (of) => of.where('what', '=', what ?? ''))
    .$if(before !== undefined, (of) => (before ? of.where(isBefore(before)) : of))
    .orderBy('occurred_at', 'desc')
    .orderBy('event_id', 'desc');

const fromRow = (row: Selectable<Schema['audit_log']>): AuditEntry => ({
  id: row.event_id,
  accountId: row.account_id,
  actor: actorFrom(row.actor),
  what: row.what,
  occurredAt: fromMillis(row.occurred_at),
  details: JSON.parse(row.details) as Record<string, string | number>,
});

/** The first condition is redundant, but it lets the database use an index. */
const isBefore =
  ({ id, occurredAt }: Place) =>
  (eb: ExpressionBuilder<Schema, 'audit_log'>) => {
    const at = toMillis(occurredAt);
    return eb.and([
      eb('occurred_at', '<=', at),
      eb.or([eb('occurred_at', '<', at), eb('event_id', '<', id)]),
    ]);
  };
