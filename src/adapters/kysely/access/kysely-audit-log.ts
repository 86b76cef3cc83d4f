import type { ExpressionBuilder } from 'kysely';
import type { AuditEntry, AuditLog, AuditSearch } from '../../../access/ports.ts';
import type { Database, Queries } from '../database.ts';
import { Store } from '../store.ts';
import { toMillis, type Schema } from '../schema.ts';
import { subjectOf, toldEvents } from '../kysely-outbox.ts';

type AuditPosition = Pick<AuditEntry, 'id' | 'occurredAt'>;

/** Reads the events themselves, each in the index of its account, actor and type. */
export class KyselyAuditLog extends Store implements AuditLog {
  readonly #hiddenTypes: readonly string[];

  constructor(database: Database, hiddenTypes: readonly string[]) {
    super(database);
    this.#hiddenTypes = hiddenTypes;
  }

  async list(
    accountId: string,
    limit: number,
    search: AuditSearch = {},
  ): Promise<readonly AuditEntry[]> {
    const { db } = this;
    const [first, ...others] = stretchesOf(search, this.#hiddenTypes).map((stretch) =>
      db
        .selectFrom(newestIn(db, accountId, stretch, search).limit(limit).as('stretch'))
        .selectAll(),
    );
    if (!first) return [];
    const rows = await others
      .reduce((all, one) => all.unionAll(one), first)
      .orderBy('occurred_at', 'desc')
      .orderBy('id', 'desc')
      .limit(limit)
      .execute();
    return rows.map(toldEvents.read).map(({ type: what, details, ...entry }) => ({
      ...{ ...entry, what },
      details: JSON.parse(details) as AuditEntry['details'],
    }));
  }
}

/** A range that one index holds in time order. */
interface Stretch {
  readonly actor: string | undefined;
  readonly type: { readonly is: string } | { readonly noneOf: readonly string[] };
  readonly subject: string | undefined;
}

/** The newest of each range are found by index, and the newest overall are among them. */
const stretchesOf = (
  { actor, kinds, about }: AuditSearch,
  hidden: readonly string[],
): readonly Stretch[] => {
  const subjects = about?.map(subjectOf) ?? [undefined];
  const types = kinds?.filter((kind) => !hidden.includes(kind)).map((is) => ({ is })) ?? [
    { noneOf: hidden },
  ];
  return subjects.flatMap((subject) => types.map((type) => ({ actor, type, subject })));
};

const newestIn = (
  db: Queries,
  accountId: string,
  { actor, type, subject }: Stretch,
  { before, since, until }: AuditSearch,
) =>
  db
    .selectFrom('events')
    .selectAll()
    .where('account_id', '=', accountId)
    .where((eb) => ('is' in type ? eb('type', '=', type.is) : eb('type', 'not in', type.noneOf)))
    .$if(actor !== undefined, (of) => of.where('actor', '=', actor ?? ''))
    .$if(subject !== undefined, (of) => of.where('subject', '=', subject ?? ''))
    .$if(since !== undefined, (of) => of.where('occurred_at', '>=', since ? toMillis(since) : 0n))
    .$if(until !== undefined, (of) => of.where('occurred_at', '<', until ? toMillis(until) : 0n))
    .$if(before !== undefined, (of) => (before ? of.where(isBefore(before)) : of))
    .orderBy('occurred_at', 'desc')
    .orderBy('id', 'desc');

/** The first condition is redundant, but it lets the database use an index. */
const isBefore =
  ({ id, occurredAt }: AuditPosition) =>
  (eb: ExpressionBuilder<Schema, 'events'>) => {
    const at = toMillis(occurredAt);
    return eb.and([
      eb('occurred_at', '<=', at),
      eb.or([eb('occurred_at', '<', at), eb('id', '<', id)]),
    ]);
  };
