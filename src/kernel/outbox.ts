import type { StoredEvent } from './domain-event.ts';
import type { Held, Most, Queue } from './queue.ts';

/** One event that is still to be delivered to one subscriber. */
export interface Delivery extends Held {
  readonly subscriber: string;
  /** How often it was tried before. */
  readonly attempts: number;
  readonly stored: StoredEvent;
}

/** At most `mostCounted` of each. */
export interface OutboxState {
  readonly waiting: number;
  readonly parked: number;
}

/** When the events of the oldest deliveries occurred; undefined if there are none. */
export type OldestDeliveries = Readonly<Record<keyof OutboxState, Date | undefined>>;

/** More are not counted, because /metrics asks at every scrape, also after days without a worker. */
export const mostCounted = 10_000;

/** Deliveries, stored in the same transaction as the state change; see docs/decisions. */
export abstract class Outbox implements Queue<Delivery> {
  /** The oldest deliveries first. */
  abstract claim(now: Date, leaseUntil: Date, most: Most): Promise<readonly Delivery[]>;
  abstract nextDueAt(): Promise<Date | undefined>;
  /** Deletes them, whoever has claimed them. */
  abstract done(deliveries: readonly Pick<Held, 'id'>[]): Promise<void>;
  abstract retry(held: Held, nextAttemptAt: Date, problem: string): Promise<void>;
  abstract park(held: Held, problem: string): Promise<void>;

  abstract state(): Promise<OutboxState>;

  /** Of more than `mostCounted` that wait, one that was tried before may be older. */
  abstract oldest(): Promise<OldestDeliveries>;
}
