import type { StoredEvent } from './domain-event.ts';

/** One event that is still to be delivered to one subscriber. */
export interface Delivery {
  readonly id: string;
  readonly subscriber: string;
  /** How often it was tried before. */
  readonly attempts: number;
  readonly stored: StoredEvent;
}

export interface OutboxState {
  readonly waiting: number;
  readonly parked: number;
}

/** Deliveries, stored in the same transaction as the state change; see docs/decisions. */
export abstract class Outbox {
  /**
   * Leases up to `limit` due deliveries, oldest first, until `leaseUntil`. Deliveries of a dead process can be claimed
   * again after that.
   */
  abstract claim(now: Date, leaseUntil: Date, limit: number): Promise<readonly Delivery[]>;

  /** Marks a delivery as done; doing it twice is no error. */
  abstract done(deliveryId: string): Promise<void>;

  /** Gives a delivery back, to be tried at `nextAttemptAt`. */
  abstract retry(deliveryId: string, nextAttemptAt: Date, problem: string): Promise<void>;

  /** Gives up on a delivery and keeps it for a person to look at. */
  abstract park(deliveryId: string, problem: string): Promise<void>;

  abstract state(): Promise<OutboxState>;
}
