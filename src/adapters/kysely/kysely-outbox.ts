import type { Insertable } from 'kysely';
import type { DomainEvent } from '../../kernel/domain-event.ts';
import type { Ids } from '../../kernel/ids.ts';
import type {
  Delivery,
  HeldDelivery,
  OldestDeliveries,
  Outbox,
  OutboxState,
} from '../../kernel/outbox.ts';
import type { Database } from './database.ts';
import { JointWrites } from './joint-writes.ts';
import { OutboxNews, type NewsPorts } from './outbox-news.ts';
import { oldestDeliveries, outboxState } from './outbox-state.ts';
import { Store } from './store.ts';
import { fromMillis, toMillis, type Schema } from './schema.ts';
import { events } from './tables.ts';

const longestProblem = 2000;

export interface OutboxPorts extends NewsPorts {
  readonly ids: Ids;
  readonly subscribersOf: (type: string) => readonly string[];
}

export class KyselyOutbox extends Store implements Outbox {
  readonly #ports: OutboxPorts;
  /** No subscriber waits for the mark of a delivery. */
  readonly #marks = new JointWrites(this.database);
  readonly #news: OutboxNews;
  readonly #insertEvent = this.database.prepareWithNext<Insertable<Schema['events']>>((db, the) =>
    db.insertInto('events').values(events.slots(the)),
  );
  readonly #insertDelivery = this.database.prepareWithNext<{
    event_id: string;
    subscriber: string;
  }>((db, the) =>
    db.insertInto('deliveries').values({
      event_id: the('event_id'),
      subscriber: the('subscriber'),
      attempts: 0n,
      due_at: 0n,
      parked: 0n,
      claim: null,
      problem: null,
    }),
  );

  constructor(database: Database, ports: OutboxPorts) {
    super(database);
    this.#ports = ports;
    this.#news = new OutboxNews(ports);
  }

  /** For the other adapters of this folder: stores events in the transaction they are in. */
  append(events: readonly DomainEvent[]): Promise<void> {
    return this.database.transaction(async () => {
      for (const event of events) {
        const hasDeliveries = await this.#store(event);
        this.database.afterCommit(() => {
          this.#news.tell(event.accountId, hasDeliveries);
        });
      }
    });
  }

  async claim(now: Date, leaseUntil: Date, limit: number): Promise<readonly Delivery[]> {
    const claim = this.#ports.ids.next('claim');
    const due = await this.db
      .selectFrom('deliveries')
      .select('id')
      .where('parked', '=', 0n)
      .where('due_at', '<=', toMillis(now))
      .orderBy('id')
      .limit(limit)
      .execute();
    if (due.length === 0) return [];
    const ids = due.map((row) => row.id);
    // Checks `due_at` again, so that the loser of a race for a row changes nothing.
    await this.database.transaction((db) =>
      db
        .updateTable('deliveries')
        .set({ claim, due_at: toMillis(leaseUntil) })
        .where('id', 'in', ids)
        .where('parked', '=', 0n)
        .where('due_at', '<=', toMillis(now))
        .execute(),
    );
    return this.#claimed(claim);
  }

  async nextDueAt(): Promise<Date | undefined> {
    const first = await this.db
      .selectFrom('deliveries')
      .select('due_at')
      .where('parked', '=', 0n)
      .orderBy('due_at')
      .limit(1)
      .executeTakeFirst();
    return first && fromMillis(first.due_at);
  }

  async done(...deliveryIds: string[]): Promise<void> {
    if (deliveryIds.length === 0) return;
    const ids = deliveryIds.map(BigInt);
    await this.#marks.transaction((db) =>
      db.deleteFrom('deliveries').where('id', 'in', ids).execute(),
    );
  }

  async retry(held: HeldDelivery, nextAttemptAt: Date, problem: string): Promise<void> {
    await this.#failed(held, problem, { due_at: toMillis(nextAttemptAt) });
  }

  async park(held: HeldDelivery, problem: string): Promise<void> {
    await this.#failed(held, problem, { parked: 1n });
  }

  state(): Promise<OutboxState> {
    return outboxState(this.db);
  }

  oldest(): Promise<OldestDeliveries> {
    return oldestDeliveries(this.db);
  }

  /** @returns whether anybody subscribes to it */
  async #store({ type, accountId, occurredAt, ...details }: DomainEvent): Promise<boolean> {
    const { acting, ids, subscribersOf } = this.#ports;
    const id = ids.next('evt');
    const event = { id, accountId, type, occurredAt, actor: acting.actor };
    await this.#insertEvent(events.write({ ...event, details: JSON.stringify(details) }));
    const subscribers = subscribersOf(type);
    for (const subscriber of subscribers) await this.#insertDelivery({ event_id: id, subscriber });
    return subscribers.length > 0;
  }

  async #claimed(claim: string): Promise<readonly Delivery[]> {
    const rows = await this.db
      .selectFrom('deliveries')
      .innerJoin('events', 'events.id', 'deliveries.event_id')
      .selectAll('events')
      .select(['deliveries.id as delivery_id', 'subscriber', 'attempts'])
      .where('claim', '=', claim)
      .orderBy('deliveries.id')
      .execute();
    return rows.map((row) => {
      const { id, actor, details, ...event } = events.read(row);
      return {
        id: String(row.delivery_id),
        claim,
        subscriber: row.subscriber,
        attempts: Number(row.attempts),
        stored: { id, actor, event: { ...(JSON.parse(details) as object), ...event } },
      };
    });
  }

  async #failed(
    { id, claim }: HeldDelivery,
    problem: string,
    change: { due_at: bigint } | { parked: bigint },
  ): Promise<void> {
    await this.db
      .updateTable('deliveries')
      .set((eb) => ({
        ...change,
        attempts: eb('attempts', '+', 1n),
        claim: null,
        problem: problem.slice(0, longestProblem),
      }))
      .where('id', '=', BigInt(id))
      .where('claim', '=', claim)
      .execute();
  }
}
