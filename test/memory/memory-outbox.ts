import type { Acting } from '../../src/kernel/acting.ts';
import type { DomainEvent, StoredEvent } from '../../src/kernel/domain-event.ts';
import type { Ids } from '../../src/kernel/ids.ts';
import { Outbox, type Delivery, type OutboxState } from '../../src/kernel/outbox.ts';

interface Entry {
  delivery: Delivery;
  dueAt: number;
  parked: boolean;
}

export class MemoryOutbox extends Outbox {
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
        const delivery = { id: this.#ids.next('dlv'), subscriber, attempts: 0, stored };
        this.#entries.set(delivery.id, { delivery, dueAt: 0, parked: false });
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
    for (const entry of due) entry.dueAt = leaseUntil.getTime();
    return Promise.resolve(structuredClone(due.map((entry) => entry.delivery)));
  }

  override done(deliveryId: string): Promise<void> {
    this.#entries.delete(deliveryId);
    return Promise.resolve();
  }

  override retry(deliveryId: string, nextAttemptAt: Date): Promise<void> {
    return this.#failed(deliveryId, { dueAt: nextAttemptAt.getTime() });
  }

  override park(deliveryId: string): Promise<void> {
    return this.#failed(deliveryId, { parked: true });
  }

  override state(): Promise<OutboxState> {
    const all = [...this.#entries.values()];
    const parked = all.filter((entry) => entry.parked).length;
    return Promise.resolve({ waiting: all.length - parked, parked });
  }

  sweep(types: readonly string[], before: Date): Promise<number> {
    const wanted = new Set([...this.#entries.values()].map((entry) => entry.delivery.stored.id));
    const old = this.stored.filter(
      ({ id, event }) => types.includes(event.type) && !wanted.has(id) && event.occurredAt < before,
    );
    for (const { id } of old) this.#stored.delete(id);
    return Promise.resolve(old.length);
  }

  #failed(deliveryId: string, change: Partial<Entry>): Promise<void> {
    const entry = this.#entries.get(deliveryId);
    if (entry) {
      const delivery = { ...entry.delivery, attempts: entry.delivery.attempts + 1 };
      this.#entries.set(deliveryId, { ...entry, ...change, delivery });
    }
    return Promise.resolve();
  }
}
