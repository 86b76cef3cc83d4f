import type { Acting } from '../../src/kernel/acting.ts';
import type { DomainEvent, StoredEvent } from '../../src/kernel/domain-event.ts';
import type { Ids } from '../../src/kernel/ids.ts';
import type {
  ParkedDeliveries,
  ParkedDelivery,
  Release,
} from '../../src/kernel/parked-deliveries.ts';
import {
  mostCounted,
  Outbox,
  type Delivery,
  type HeldDelivery,
  type OldestDeliveries,
  type OutboxState,
} from '../../src/kernel/outbox.ts';

interface Entry {
  delivery: Delivery;
  dueAt: number;
  parked: boolean;
  problem: string;
}

export class MemoryOutbox extends Outbox implements ParkedDeliveries {
  readonly #ids: Ids;
  readonly #subscribersOf: (type: string) => readonly string[];
  readonly #acting: Pick<Acting, 'actor'>;
  readonly #entries = new Map<string, Entry>();
  readonly #stored = new Map<string, StoredEvent>();

  constructor(
    ids: Ids,
    subscribersOf: (type: string) => readonly string[],
    acting: Pick<Acting, 'actor'> = { actor: 'service' },
  ) {
    super();
    this.#ids = ids;
    this.#subscribersOf = subscribersOf;
    this.#acting = acting;
  }

  /** For the other adapters of this folder, in the same turn as the state is kept. */
  append(events: readonly DomainEvent[]): void {
    const { actor } = this.#acting;
    for (const event of events) {
      const stored = { id: this.#ids.next('evt'), actor, event: structuredClone(event) };
      this.#stored.set(stored.id, stored);
      for (const subscriber of this.#subscribersOf(event.type)) {
        const delivery = { id: this.#ids.next('dlv'), subscriber, attempts: 0, stored, claim: '' };
        this.#entries.set(delivery.id, { delivery, dueAt: 0, parked: false, problem: '' });
      }
    }
  }

  /** Everything that was ever stored, for tests. */
  get events(): readonly DomainEvent[] {
    return this.stored.map(({ event }) => event);
  }

  /** For the audit log: the events as they are stored. */
  get stored(): readonly StoredEvent[] {
    return [...this.#stored.values()];
  }

  override claim(now: Date, leaseUntil: Date, limit: number): Promise<readonly Delivery[]> {
    const due = [...this.#entries.values()]
      .filter((entry) => !entry.parked && entry.dueAt <= now.getTime())
      .slice(0, limit);
    const claim = this.#ids.next('claim');
    for (const entry of due) {
      entry.dueAt = leaseUntil.getTime();
      entry.delivery = { ...entry.delivery, claim };
    }
    return Promise.resolve(structuredClone(due.map((entry) => entry.delivery)));
  }

  override done(...deliveryIds: string[]): Promise<void> {
    for (const id of deliveryIds) this.#entries.delete(id);
    return Promise.resolve();
  }

  override retry(held: HeldDelivery, nextAttemptAt: Date, problem: string): Promise<void> {
    return this.#failed(held, { dueAt: nextAttemptAt.getTime(), problem });
  }

  override park(held: HeldDelivery, problem: string): Promise<void> {
    return this.#failed(held, { parked: true, problem });
  }

  override state(): Promise<OutboxState> {
    const all = [...this.#entries.values()];
    const parked = all.filter((entry) => entry.parked).length;
    const waiting = Math.min(mostCounted, all.length - parked);
    return Promise.resolve({ waiting, parked: Math.min(mostCounted, parked) });
  }

  override oldest(): Promise<OldestDeliveries> {
    const at = (parked: boolean) => {
      const first = [...this.#entries.values()].find((entry) => entry.parked === parked);
      return first && new Date(first.delivery.stored.event.occurredAt);
    };
    return Promise.resolve({ waiting: at(false), parked: at(true) });
  }

  list(limit: number, after?: string): Promise<readonly ParkedDelivery[]> {
    const ids = [...this.#entries.keys()];
    const later = new Set(ids.slice(after === undefined ? 0 : ids.indexOf(after) + 1));
    const found = this.#parked.filter(({ id }) => later.has(id)).slice(0, limit);
    return Promise.resolve(structuredClone(found));
  }

  release(deliveryId: string): Promise<Release> {
    const entry = this.#entries.get(deliveryId);
    if (!entry) return Promise.resolve('unknown');
    if (!entry.parked) return Promise.resolve('not_parked');
    const delivery = { ...entry.delivery, attempts: 0 };
    this.#entries.set(deliveryId, { ...entry, delivery, parked: false, dueAt: 0 });
    return Promise.resolve('released');
  }

  async releaseAll(): Promise<number> {
    const all = this.#parked;
    for (const { id } of all) await this.release(id);
    return all.length;
  }

  get #parked(): readonly ParkedDelivery[] {
    const parked = [...this.#entries.values()].filter((entry) => entry.parked);
    return parked.map(({ problem, delivery: { id, subscriber, attempts, stored } }) => {
      const { type, accountId, occurredAt } = stored.event;
      const of = { eventId: stored.id, type, accountId, occurredAt };
      return { id, subscriber, attempts, problem, ...of };
    });
  }

  sweep(types: readonly string[], before: Date): Promise<number> {
    const wanted = new Set([...this.#entries.values()].map((entry) => entry.delivery.stored.id));
    const old = this.stored.filter(
      ({ id, event }) => types.includes(event.type) && !wanted.has(id) && event.occurredAt < before,
    );
    for (const { id } of old) this.#stored.delete(id);
    return Promise.resolve(old.length);
  }

  #failed({ id, claim }: HeldDelivery, change: Partial<Entry>): Promise<void> {
    const entry = this.#entries.get(id);
    if (entry?.delivery.claim === claim) {
      const delivery = { ...entry.delivery, claim: '', attempts: entry.delivery.attempts + 1 };
      this.#entries.set(id, { ...entry, ...change, delivery });
    }
    return Promise.resolve();
  }
}
