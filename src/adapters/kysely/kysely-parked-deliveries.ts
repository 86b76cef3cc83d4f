import type { ParkedDeliveries, ParkedDelivery, Release } from '../../kernel/outbox.ts';
import { fromMillis } from './schema.ts';
import { Store } from './store.ts';

/** Released in one transaction, so that no worker waits long for their rows. */
const slice = 500;

/** As newly stored; the last problem stays to be read until the next one. */
const asNew = { parked: 0n, attempts: 0n, due_at: 0n, claim: null };

export class KyselyParkedDeliveries extends Store implements ParkedDeliveries {
  async list(limit: number, after = '0'): Promise<readonly ParkedDelivery[]> {
    const rows = await this.db
      .selectFrom('deliveries')
      .innerJoin('events', 'events.id', 'deliveries.event_id')
      .select(['deliveries.id', 'subscriber', 'attempts', 'problem', 'event_id'])
      .select(['type', 'account_id', 'occurred_at'])
      .where('parked', '=', 1n)
      .where('deliveries.id', '>', BigInt(after))
      .orderBy('deliveries.id')
      .limit(limit)
      .execute();
    return rows.map((row) => ({
      id: String(row.id),
      subscriber: row.subscriber,
      attempts: Number(row.attempts),
      problem: row.problem ?? '',
      eventId: row.event_id,
      type: row.type,
      accountId: row.account_id,
      occurredAt: fromMillis(row.occurred_at),
    }));
  }

  async release(deliveryId: string): Promise<Release> {
    if ((await this.#release([BigInt(deliveryId)])) === 1) return 'released';
    const known = await this.db
      .selectFrom('deliveries')
      .select('id')
      .where('id', '=', BigInt(deliveryId))
      .executeTakeFirst();
    return known ? 'not_parked' : 'unknown';
  }

  /** Forward by their ids: one that fails again meanwhile is not released twice. */
  async releaseAll(): Promise<number> {
    let released = 0;
    for (let after = 0n; ;) {
      const ids = await this.#parkedAfter(after);
      const last = ids.at(-1);
      if (last === undefined) return released;
      released += await this.#release(ids);
      after = last;
    }
  }

  async #parkedAfter(after: bigint): Promise<readonly bigint[]> {
    const rows = await this.db
      .selectFrom('deliveries')
      .select('id')
      .where('parked', '=', 1n)
      .where('id', '>', after)
      .orderBy('id')
      .limit(slice)
      .execute();
    return rows.map(({ id }) => id);
  }

  async #release(ids: readonly bigint[]): Promise<number> {
    const { numUpdatedRows } = await this.database.transaction((db) =>
      db
        .updateTable('deliveries')
        .set(asNew)
        .where('id', 'in', ids)
        .where('parked', '=', 1n)
        .executeTakeFirstOrThrow(),
    );
    return Number(numUpdatedRows);
  }
}
