import type { Insertable } from 'kysely';
import type { DomainEvent } from '../../kernel/decision.ts';
import type { Acting, Ids } from '../../kernel/ports.ts';
import type {
  Delivery,
  OldestDeliveries,
  Outbox,
  OutboxState,
  ParkedDeliveries,
  ParkedDelivery,
  Release,
  Claimed,
  Most,
} from '../../kernel/queue.ts';
import { type Database, type Queries, fromMillis, toMillis, type Schema } from './database.ts';
import { countWaiting, QueueRows } from './queue.ts';
import { insertMany, Store } from './store.ts';
import { events } from './tables.ts';

export const toldEvents = events.without('subject');

/** Up to this number, a compiled statement stores the events. */
const fewEvents = 8;

const asNew = { parked: 0n, attempts: 0n, due_at: 0n, claim: null };

const states = { waiting: 0n, parked: 1n } as const;

export interface OutboxPorts {
  readonly ids: Ids;
  readonly acting: Acting;
  /** Called after a commit with new events whose actor is `service`. */
  readonly onStored: (accountIds: readonly string[], hasDeliveries: boolean) => void;
  readonly subscribersOf: (type: string) => readonly string[];
}

export class KyselyOutbox extends Store implements Outbox {
  readonly #ports: OutboxPorts;
  readonly #queue: QueueRows;
  #news: { readonly accounts: Set<string>; hasDeliveries: boolean } | undefined;
  readonly #insertEvent = this.database.prepareWithNext<Insertable<Schema['events']>>((db, the) =>
    db.insertInto('events').values(events.slots(the)),
  );
  readonly #insertDelivery = this.database.prepareWithNext<{
    event_id: string;
    subscriber: string;
  }>((db, the) =>
    db.insertInto('deliveries').values({
      ...asNew,
      event_id: the('event_id'),
      subscriber: the('subscriber'),
      problem: null,
    }),
  );

  constructor(database: Database, ports: OutboxPorts) {
    super(database);
    this.#ports = ports;
    this.#queue = new QueueRows(database, ports.ids, {
      table: 'deliveries',
      key: 'id',
      isNumbered: true,
      due: 'due_at',
      order: ['id'],
      only: { column: 'parked', values: [states.waiting] },
    });
  }

  append(events: readonly DomainEvent[]): Promise<void> {
    return this.database.transaction(async () => {
      const rows = events.map((event) => this.#rowOf(event));
      await this.#insertEvents(rows);
      for (const { id, type, account_id: accountId } of rows) {
        const subscribers = this.#ports.subscribersOf(type);
        for (const subscriber of subscribers)
          await this.#insertDelivery({ event_id: id, subscriber });
        this.database.afterCommit(() => {
          this.#tell(accountId, subscribers.length > 0);
        });
      }
    });
  }

  async claim(now: Date, leaseUntil: Date, { limit }: Most): Promise<readonly Delivery[]> {
    const claim = await this.#queue.take(now, leaseUntil, limit);
    return claim === undefined ? [] : this.#claimed(claim);
  }

  nextDueAt(): Promise<Date | undefined> {
    return this.#queue.nextDueAt();
  }

  done(deliveries: readonly Pick<Claimed, 'id'>[]): Promise<void> {
    return this.#queue.remove(deliveries);
  }

  retry(held: Claimed, nextAttemptAt: Date, problem: string): Promise<void> {
    return this.#queue.giveBack(held, { due_at: toMillis(nextAttemptAt) }, problem);
  }

  park(held: Claimed, problem: string): Promise<void> {
    return this.#queue.giveBack(held, { parked: states.parked }, problem);
  }

  async state(): Promise<OutboxState> {
    const count = async (parked: bigint) => (await waitingIn(this.db, parked)).count;
    return { waiting: await count(states.waiting), parked: await count(states.parked) };
  }

  async oldest(): Promise<OldestDeliveries> {
    const oldestAt = async (parked: bigint) => {
      const { least } = await waitingIn(this.db, parked);
      return least === null ? undefined : occurredAt(this.db, least);
    };
    return { waiting: await oldestAt(states.waiting), parked: await oldestAt(states.parked) };
  }

  #tell(accountId: string, hasDeliveries: boolean): void {
    this.#news ??= { accounts: new Set(), hasDeliveries: false };
    const news = this.#news;
    if (news.accounts.size === 0) {
      queueMicrotask(() => {
        this.#news = undefined;
        const { acting, onStored } = this.#ports;
        acting.run('service', () => {
          onStored([...news.accounts], news.hasDeliveries);
        });
      });
    }
    news.accounts.add(accountId);
    news.hasDeliveries ||= hasDeliveries;
  }

  #rowOf({ type, accountId, occurredAt, ...details }: DomainEvent) {
    const { acting, ids } = this.#ports;
    const event = { id: ids.next('evt'), accountId, type, occurredAt, actor: acting.actor };
    const subject = subjectOf(details);
    return events.write({ ...event, details: JSON.stringify(details), subject });
  }

  async #insertEvents(rows: readonly Insertable<Schema['events']>[]): Promise<void> {
    if (rows.length > fewEvents) {
      await insertMany(rows, (some) => this.db.insertInto('events').values(some).execute());
      return;
    }
    for (const row of rows) await this.#insertEvent(row);
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
      const { id, actor, details, ...event } = toldEvents.read(row);
      return {
        id: String(row.delivery_id),
        claim,
        subscriber: row.subscriber,
        attempts: Number(row.attempts),
        stored: { id, actor, event: { ...(JSON.parse(details) as object), ...event } },
      };
    });
  }
}

export const subjectOf = (about: {
  readonly petId?: string;
  readonly orderId?: string;
}): string | undefined => {
  if (about.orderId !== undefined) return `order ${about.orderId}`;
  return about.petId === undefined ? undefined : `animal ${about.petId}`;
};

const waitingIn = (db: Queries, parked: bigint) =>
  countWaiting(db, {
    table: 'deliveries',
    due: 'due_at',
    least: 'id',
    only: ['parked', '=', parked],
  });

const occurredAt = async (db: Queries, deliveryId: bigint): Promise<Date | undefined> => {
  const row = await db
    .selectFrom('deliveries')
    .innerJoin('events', 'events.id', 'deliveries.event_id')
    .select('occurred_at')
    .where('deliveries.id', '=', deliveryId)
    .executeTakeFirst();
  return row && fromMillis(row.occurred_at);
};

/** Released per transaction, so that no worker waits long. */
const releasedAtOnce = 500;

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

  /** Does not release a delivery twice, even if it fails again meanwhile. */
  async releaseAll(): Promise<number> {
    let released = 0;
    for (let after = '0'; ;) {
      const some = await this.list(releasedAtOnce, after);
      const last = some.at(-1);
      if (!last) return released;
      released += await this.#release(some.map(({ id }) => BigInt(id)));
      after = last.id;
    }
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
