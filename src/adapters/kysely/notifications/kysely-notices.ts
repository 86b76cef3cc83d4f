import { sql, type Selectable } from 'kysely';
import { isKind, ownDoings } from '../../../notifications/domain/kinds.ts';
import type { Notification } from '../../../notifications/domain/notification.ts';
import type { Notice, Notices, Reader } from '../../../notifications/ports.ts';
import { failureOf } from '../engine/failure.ts';
import type { Schema } from '../schema.ts';
import { Store } from '../store.ts';
import { toldFrom } from './notice-facts.ts';
import { notices } from './tables.ts';

const given = notices.without('id');

/** Of what stands before the address of a person. */
const actorLength = 'person:'.length;

export class KyselyNotices extends Store implements Notices {
  async add({ id, about, ...notice }: Notification): Promise<void> {
    const row = { ...notice, eventId: id, about: JSON.stringify(about) };
    try {
      await this.db.insertInto('notices').values(given.write(row)).execute();
    } catch (error) {
      // It is there already: the event was delivered again.
      if (failureOf(error) !== 'duplicate') throw error;
    }
  }

  async list(accountId: string, limit: number, before?: bigint): Promise<readonly Notice[]> {
    const rows = await this.db
      .selectFrom('notices')
      .selectAll()
      .where('account_id', '=', accountId)
      .$if(before !== undefined, (query) => query.where('id', '<', before ?? 0n))
      .orderBy('id', 'desc')
      .limit(limit)
      .execute();
    return rows.flatMap(fromRow);
  }

  async newest(accountId: string): Promise<bigint> {
    const row = await this.db
      .selectFrom('notices')
      .select('id')
      .where('account_id', '=', accountId)
      .orderBy('id', 'desc')
      .limit(1)
      .executeTakeFirst();
    return row?.id ?? 0n;
  }

  async unread({ accountId, personId }: Reader, most: number): Promise<number> {
    const rows = await this.db
      .selectFrom('people')
      .innerJoin('notices', 'notices.account_id', 'people.account_id')
      .select('notices.id')
      .where('people.id', '=', personId)
      .where('people.account_id', '=', accountId)
      .where('notices.account_id', '=', accountId)
      .whereRef('notices.id', '>', ({ fn, val }) => fn.coalesce('people.notices_seen', val(0n)))
      .where(({ and, eb, exists, not, selectFrom }) => {
        const own = selectFrom('events')
          .select('events.id')
          .whereRef('events.id', '=', 'notices.event_id')
          .where(
            sql<string>`substr(events.actor, ${actorLength + 1})`,
            '=',
            eb.ref('people.email'),
          );
        return not(and([eb('notices.kind', 'in', ownDoings), exists(own)]));
      })
      .orderBy('notices.id', 'desc')
      .limit(most)
      .execute();
    return rows.length;
  }

  async markSeen({ accountId, personId }: Reader, place: bigint): Promise<bigint> {
    return this.database.transaction(async (db) => {
      const person = await db
        .selectFrom('people')
        .select('notices_seen')
        .where('id', '=', personId)
        .where('account_id', '=', accountId)
        .$call(this.database.engine.locked)
        .executeTakeFirst();
      const before = person?.notices_seen ?? 0n;
      if (before >= place) return before;
      await db
        .updateTable('people')
        .set({ notices_seen: place })
        .where('id', '=', personId)
        .where('account_id', '=', accountId)
        .execute();
      return before;
    });
  }
}

/** @returns nothing for a kind that only a newer version knows */
const fromRow = (row: Selectable<Schema['notices']>): readonly Notice[] => {
  if (!isKind(row.kind)) return [];
  const { id: place, eventId: id, kind, about, ...notice } = notices.read(row);
  return [{ ...notice, ...toldFrom(kind, about), id, place }];
};
