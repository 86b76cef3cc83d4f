import {
  timelineKinds,
  trimsAfter,
  type TimelineEntry,
} from '../../../domains/domain/attachment/timeline.ts';
import type { Timeline, PlacedEntry } from '../../../domains/ports.ts';
import { Store } from '../store.ts';
import type { Queries } from '../database.ts';
import { fromMillis, oneOf, toMillis } from '../schema.ts';

export class KyselyTimeline extends Store implements Timeline {
  async list(domainId: string, limit: number, before?: bigint): Promise<readonly PlacedEntry[]> {
    const rows = await this.db
      .selectFrom('domain_timeline')
      .selectAll()
      .where('domain_id', '=', domainId)
      .$if(before !== undefined, (query) => query.where('id', '<', before ?? 0n))
      .orderBy('id', 'desc')
      .limit(limit)
      .execute();
    return rows.map(({ id, kind, details, occurred_at }) => ({
      place: id,
      kind: oneOf(timelineKinds, kind),
      occurredAt: fromMillis(occurred_at),
      details: JSON.parse(details) as Readonly<Record<string, unknown>>,
    }));
  }
}

/** For the other adapters of this folder, in the transaction of the change that the entries describe. */
export const recordEntries = async (
  db: Queries,
  domainId: string,
  entries: readonly TimelineEntry[],
): Promise<void> => {
  for (const { kind, occurredAt, details } of entries) {
    const row = { domain_id: domainId, kind, occurred_at: toMillis(occurredAt) };
    await db
      .insertInto('domain_timeline')
      .values({ ...row, details: JSON.stringify(details) })
      .execute();
    for (const trim of trimsAfter(kind)) await trimOne(db, { domainId, ...trim });
  }
};

/** Most entries deleted in one step, because other statements wait for it; an entry takes up to some 30 kB. */
const slice = 100;

const trimOne = async (
  db: Queries,
  {
    domainId,
    kind,
    most,
  }: { readonly domainId: string; readonly kind: string; readonly most: number },
): Promise<void> => {
  const alike = db
    .selectFrom('domain_timeline')
    .select('id')
    .where('domain_id', '=', domainId)
    .where('kind', '=', kind)
    .orderBy('id', 'desc');
  // By id, so that MySQL locks single rows.
  const ids = (await alike.offset(most).limit(slice).execute()).map(({ id }) => id);
  if (ids.length > 0) await db.deleteFrom('domain_timeline').where('id', 'in', ids).execute();
};
