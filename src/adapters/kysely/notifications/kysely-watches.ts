import type { Look as LookOf } from '../../../notifications/domain/look.ts';
import type { Memory } from '../../../notifications/domain/memory.ts';
import type { DueWatch, KeptWatch, Watches } from '../../../notifications/ports.ts';
import type { Queries } from '../database.ts';
import { failureOf } from '../engine/failure.ts';
import { parseStored, present } from '../column.ts';
import { fromMillis, fromMillisOrNull, toMillis, toMillisOrNull } from '../schema.ts';
import { AggregateStore } from '../aggregate-store.ts';
import { storedMemory } from './watch-memory.ts';

type Look = LookOf<Memory>;

export class KyselyWatches extends AggregateStore implements Watches {
  async get(subject: string): Promise<KeptWatch | undefined> {
    const row = await this.db
      .selectFrom('watches')
      .select(['memory', 'version'])
      .where('subject', '=', subject)
      .executeTakeFirst();
    if (!row) return undefined;
    return { memory: parseStored(storedMemory, row.memory), version: Number(row.version) };
  }

  async save(subject: string, since: number | undefined, look: Look): Promise<boolean> {
    try {
      return await this.database.transaction(async (db) => {
        const isSaved = await (since === undefined
          ? insert(db, subject, look)
          : update(db, { subject, since, look }));
        if (isSaved) await this.outbox.append(look.events);
        return isSaved;
      });
    } catch (error) {
      if (since === undefined && failureOf(error) === 'duplicate') return false;
      throw error;
    }
  }

  async forget(subject: string, since: number): Promise<void> {
    await this.db
      .deleteFrom('watches')
      .where('subject', '=', subject)
      .where('version', '=', BigInt(since))
      .execute();
  }

  /** The range of an index, however many watches there are. */
  async due(now: Date, limit: number, after?: DueWatch): Promise<readonly DueWatch[]> {
    let wanted = this.db
      .selectFrom('watches')
      .select(['subject', 'look_at'])
      .where('look_at', '<=', toMillis(now));
    if (after) {
      const from = toMillis(after.lookAt);
      wanted = wanted
        .where('look_at', '>=', from)
        .where((watch) =>
          watch.or([watch('look_at', '>', from), watch('subject', '>', after.subject)]),
        );
    }
    const rows = await wanted.orderBy('look_at').orderBy('subject').limit(limit).execute();
    return rows.map(({ subject, look_at }) => {
      const lookAt = fromMillis(present('look_at', look_at));
      return { subject, lookAt };
    });
  }

  async nextDueAt(): Promise<Date | undefined> {
    const first = await this.db
      .selectFrom('watches')
      .select('look_at')
      .where('look_at', 'is not', null)
      .orderBy('look_at')
      .limit(1)
      .executeTakeFirst();
    return fromMillisOrNull(first?.look_at ?? null);
  }
}

const columnsOf = ({ memory, lookAt }: Look) => ({
  memory: JSON.stringify(memory),
  look_at: toMillisOrNull(lookAt),
});

const insert = async (db: Queries, subject: string, look: Look): Promise<boolean> => {
  await db
    .insertInto('watches')
    .values({ subject, version: 1n, ...columnsOf(look) })
    .execute();
  return true;
};

interface Update {
  readonly subject: string;
  readonly since: number;
  readonly look: Look;
}

const update = async (db: Queries, { subject, since, look }: Update): Promise<boolean> => {
  const { numUpdatedRows } = await db
    .updateTable('watches')
    .set({ ...columnsOf(look), version: BigInt(since) + 1n })
    .where('subject', '=', subject)
    .where('version', '=', BigInt(since))
    .executeTakeFirst();
  return numUpdatedRows > 0n;
};
