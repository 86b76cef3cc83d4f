import type { Acting } from '../../kernel/acting.ts';
import type { DomainEvent } from '../../kernel/domain-event.ts';
import type { Ids } from '../../kernel/ids.ts';
import type { Delivery, Outbox, OutboxState } from '../../kernel/outbox.ts';
import type { Database } from './database.ts';
import { Store } from './store.ts';
import { actorFrom, fromMillis, toMillis } from './schema.ts';
import { runWithNext } from './engine/with-next.ts';

const longestProblem = 2000;

export interface OutboxPorts {
  readonly ids: Ids;
  readonly acting: Acting;
  readonly subscribersOf: (type: string) => readonly string[];
  /**
   * Called once after a commit with new events, with their accounts and whether any has a subscriber. What it starts
   * runs as actor `service`.
   */
  readonly onStored: (accountIds: readonly string[], hasDeliveries: boolean) => void;
}

interface News {
  readonly accounts: Set<string>;
  hasDeliveries: boolean;
}

export class KyselyOutbox extends Store implements Outbox {
  readonly #ports: OutboxPorts;
  /** By transaction: what to report after its commit. */
  readonly #news = new WeakMap<object, News>();

  constructor(database: Database, ports: OutboxPorts) {
    super(database);
    this.#ports = ports;
  }

  /** For the other adapters of this folder: whose events are stored. */
  get acting(): Acting {
    return this.#ports.acting;
  }

  /** For the other adapters of this folder: stores events in the transaction they are in. */
  append(events: readonly DomainEvent[]): Promise<void> {
    const { acting, ids, subscribersOf } = this.#ports;
    const { actor } = acting;
    return this.database.transaction(async (db) => {
      for (const { type, accountId, occurredAt, ...details } of events) {
        const id = ids.next('evt');
        const event = {
          id,
          account_id: accountId,
          type,
          details: JSON.stringify(details),
          occurred_at: toMillis(occurredAt),
          actor,
        };
        await runWithNext(db, db.insertInto('events').values(event));
        const deliveries = subscribersOf(type).map((subscriber) => ({
          event_id: id,
          subscriber,
          attempts: 0n,
          due_at: 0n,
          parked: 0n,
          claim: null,
          problem: null,
        }));
        const news = this.#newsOf(db);
        news.accounts.add(accountId);
        if (deliveries.length === 0) continue;
        await runWithNext(db, db.insertInto('deliveries').values(deliveries));
        news.hasDeliveries = true;
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

  async done(deliveryId: string): Promise<void> {
    await this.db.deleteFrom('deliveries').where('id', '=', BigInt(deliveryId)).execute();
  }

  async retry(deliveryId: string, nextAttemptAt: Date, problem: string): Promise<void> {
    await this.#failed(deliveryId, problem, { due_at: toMillis(nextAttemptAt) });
  }

  async park(deliveryId: string, problem: string): Promise<void> {
    await this.#failed(deliveryId, problem, { parked: 1n });
  }

  async state(): Promise<OutboxState> {
    const counts = await this.db
      .selectFrom('deliveries')
      .select(({ fn }) => ['parked', fn.countAll<bigint>().as('count')])
      .groupBy('parked')
      .execute();
    const count = (parked: bigint) =>
      Number(counts.find((row) => row.parked === parked)?.count ?? 0n);
    return { waiting: count(0n), parked: count(1n) };
  }

  /** The first call in a transaction plans the report. */
  #newsOf(transaction: object): News {
    const known = this.#news.get(transaction);
    if (known) return known;
    const news: News = { accounts: new Set(), hasDeliveries: false };
    this.#news.set(transaction, news);
    this.database.afterCommit(() => {
      this.acting.run('service', () => {
        this.#ports.onStored([...news.accounts], news.hasDeliveries);
      });
    });
    return news;
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
    return rows.map((row) => ({
      id: String(row.delivery_id),
      subscriber: row.subscriber,
      attempts: Number(row.attempts),
      stored: {
        id: row.id,
        actor: actorFrom(row.actor),
        event: {
          ...(JSON.parse(row.details) as Readonly<Record<string, unknown>>),
          type: row.type,
          accountId: row.account_id,
          occurredAt: fromMillis(row.occurred_at),
        },
      },
    }));
  }

  async #failed(
    deliveryId: string,
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
      .where('id', '=', BigInt(deliveryId))
      .execute();
  }
}
