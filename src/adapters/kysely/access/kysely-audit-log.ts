import type { ExpressionBuilder, Selectable } from 'kysely';
import type { AuditEntry, AuditLog, AuditSearch } from '../../../access/ports.ts';
import { type Database, toMillis, type Schema } from '../database.ts';
import { Store } from '../store.ts';
import { subjectOf, toldEvents } from '../kysely-outbox.ts';

export class KyselyAuditLog extends Store implements AuditLog {
  readonly #shownTypes: readonly string[];

  constructor(database: Database, shownTypes: readonly string[]) {
    super(database);
    this.#shownTypes = shownTypes;
  }

  async list(
    accountId: string,
    limit: number,
    search: AuditSearch = {},
  ): Promise<readonly AuditEntry[]> {
    const { kinds } = search;
    const types = this.#shownTypes.filter((type) => kinds?.includes(type) ?? true);
    const [first, ...others] = rangesOf(
      eventsOf(this.database, accountId, search),
      types,
      search,
    ).map((range) => this.db.selectFrom(range.limit(limit).as('newest')).selectAll());
    if (!first) return [];
    const rows = await others
      .reduce((all, one) => all.unionAll(one), first)
      .orderBy('occurred_at', 'desc')
      .orderBy('id', 'desc')
      .limit(limit)
      .execute();
    return rows.map(toldEvents.read).map(({ type: what, details, ...entry }) => ({
      ...entry,
      what,
      details: JSON.parse(details) as AuditEntry['details'],
    }));
  }
}

type Events = ReturnType<typeof eventsOf>;

/** Each range is sorted by time in an index, so the newest entries overall are among the newest of each range. */
const rangesOf = (
  events: Events,
  types: readonly string[],
  { actor, kinds, about }: AuditSearch,
): readonly Events[] => {
  if (types.length === 0) return [];
  const ofTypes = events.where('type', 'in', types);
  if (about) return about.map((one) => ofTypes.where('subject', '=', subjectOf(one) ?? ''));
  if (actor === undefined && !kinds) return [ofTypes];
  return types.map((type) => events.where('type', '=', type));
};

const indexFor = ({ actor, kinds, about }: AuditSearch): string => {
  if (about) return 'events_by_subject';
  if (actor !== undefined) return 'events_by_actor_and_type';
  return kinds ? 'events_by_type' : 'events_by_account';
};

const eventsOf = ({ db, engine }: Database, accountId: string, search: AuditSearch) => {
  const { actor, before, since, until } = search;
  return db
    .selectFrom(engine.by<Selectable<Schema['events']>, 'events'>('events', indexFor(search)))
    .selectAll()
    .where('account_id', '=', accountId)
    .$if(actor !== undefined, (of) => of.where('actor', '=', actor ?? ''))
    .$if(since !== undefined, (of) => of.where('occurred_at', '>=', since ? toMillis(since) : 0n))
    .$if(until !== undefined, (of) => of.where('occurred_at', '<', until ? toMillis(until) : 0n))
    .$if(before !== undefined, (of) => (before ? of.where(isBefore(before)) : of))
    .orderBy('occurred_at', 'desc')
    .orderBy('id', 'desc');
};

/** The first condition is redundant, but it lets the database use an index. */
const isBefore =
  ({ id, occurredAt }: Pick<AuditEntry, 'id' | 'occurredAt'>) =>
  (eb: ExpressionBuilder<Schema, 'events'>) => {
    const at = toMillis(occurredAt);
    return eb.and([
      eb('occurred_at', '<=', at),
      eb.or([eb('occurred_at', '<', at), eb('id', '<', id)]),
    ]);
  };
