import type { Insertable, Selectable } from 'kysely';
import {
  trimsAfter,
  type TimelineEntry,
} from '../../../domains/domain/attachment/timeline-entries.ts';
import type { Timeline, PlacedEntry } from '../../../domains/ports.ts';
import { Store } from '../store.ts';
import type { Database } from '../database.ts';
import type { Schema } from '../schema.ts';
import { domainTimeline } from './tables.ts';

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
    return rows.map(readEntry);
  }

  async newestAttempt(domainId: string): Promise<PlacedEntry | undefined> {
    const row = await this.db
      .selectFrom('domain_timeline')
      .selectAll()
      .where('domain_id', '=', domainId)
      .where('kind', '=', 'attempt')
      .orderBy('id', 'desc')
      .limit(1)
      .executeTakeFirst();
    return row && readEntry(row);
  }
}

const readEntry = (row: Selectable<Schema['domain_timeline']>): PlacedEntry => {
  const { id, kind, occurredAt, details } = domainTimeline.read(row);
  return {
    ...{ place: id, kind, occurredAt },
    details: JSON.parse(details) as TimelineEntry['details'],
  };
};

/** For the other adapters of this folder, in the transaction of the change that the entries describe. */
export const entryWriter = (
  database: Database,
): ((domainId: string, entries: readonly TimelineEntry[]) => Promise<void>) => {
  const insert = database.prepareWrite<Insertable<Schema['domain_timeline']>>((db, the) =>
    db.insertInto('domain_timeline').values(domainTimeline.without('id').slots(the)),
  );
  const trimOne = trimmer(database);
  return async (domainId, entries) => {
    for (const entry of entries) {
      const { kind } = entry;
      const details = JSON.stringify(entry.details);
      await insert(domainTimeline.write({ ...entry, domainId, details }));
      for (const trim of trimsAfter(kind)) await trimOne({ domainId, ...trim });
    }
  };
};

/** Most entries deleted in one step, because other statements wait for it; an entry takes up to some 30 kB. */
const slice = 100;

interface Trim {
  readonly domainId: string;
  readonly kind: string;
  readonly most: number;
}

const trimmer = (database: Database): ((trim: Trim) => Promise<void>) => {
  const tooOld = database.prepare<Pick<Trim, keyof Trim>, { id: bigint }>((db, the) =>
    db
      .selectFrom('domain_timeline')
      .select('id')
      .where('domain_id', '=', the('domainId'))
      .where('kind', '=', the('kind'))
      .orderBy('id', 'desc')
      .offset(the('most'))
      .limit(slice),
  );
  return async (trim) => {
    // By id, so that MySQL locks single rows.
    const ids = (await tooOld({ ...trim })).map(({ id }) => id);
    if (ids.length === 0) return;
    await database.db.deleteFrom('domain_timeline').where('id', 'in', ids).execute();
  };
};
