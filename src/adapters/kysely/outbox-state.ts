import { mostCounted, type OldestDeliveries, type OutboxState } from '../../kernel/outbox.ts';
import type { Queries } from './database.ts';
import { fromMillis } from './schema.ts';

const states = { waiting: 0n, parked: 1n } as const;

export const outboxState = async (db: Queries): Promise<OutboxState> => {
  const count = async (parked: bigint) => Number((await firstOf(db, parked)).count);
  return { waiting: await count(states.waiting), parked: await count(states.parked) };
};

export const oldestDeliveries = async (db: Queries): Promise<OldestDeliveries> => {
  const oldestAt = async (parked: bigint) => {
    const { oldest } = await firstOf(db, parked);
    return oldest === null ? undefined : occurredAt(db, oldest);
  };
  return { waiting: await oldestAt(states.waiting), parked: await oldestAt(states.parked) };
};

/** A range of an index. New deliveries are its first, in the order of their ids. */
const firstOf = (db: Queries, parked: bigint) =>
  db
    .selectFrom((inner) =>
      inner
        .selectFrom('deliveries')
        .select('id')
        .where('parked', '=', parked)
        .orderBy('due_at')
        .limit(mostCounted)
        .as('counted'),
    )
    .select(({ fn }) => [
      fn.countAll<bigint>().as('count'),
      fn.min<bigint | null>('counted.id').as('oldest'),
    ])
    .executeTakeFirstOrThrow();

/** @returns undefined if it is delivered meanwhile */
const occurredAt = async (db: Queries, deliveryId: bigint): Promise<Date | undefined> => {
  const row = await db
    .selectFrom('deliveries')
    .innerJoin('events', 'events.id', 'deliveries.event_id')
    .select('occurred_at')
    .where('deliveries.id', '=', deliveryId)
    .executeTakeFirst();
  return row && fromMillis(row.occurred_at);
};
