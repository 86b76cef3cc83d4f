import type { StoredEvent } from './domain-event.ts';

/** One event that one subscriber has still to see. */
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

/** Deliveries, stored in the transaction of the state that the events tell of; see docs/decisions. */
export abstract class Outbox {
  /**
   * Takes up to `limit` due deliveries, oldest first, and holds them until `leaseUntil`: nobody else
   * gets them before that. What a dead process held is given out again afterwards.
   */
  abstract claim(now: Date, leaseUntil: Date, limit: number): Promise<readonly Delivery[]>;

  /** Marks a delivery as done; doing it twice is no error. */
  abstract done(deliveryId: string): Promise<void>;

  /** Gives a delivery back, to be tried at `nextAttemptAt`. */
  abstract retry(deliveryId: string, nextAttemptAt: Date, problem: string): Promise<void>;

  /** Gives up on a delivery and keeps it for a person to look at. */
  abstract park(deliveryId: string, problem: string): Promise<void>;

  abstract state(): Promise<OutboxState>;

  /** Deletes events that were delivered to all before `before`. @returns how many */
  abstract sweep(before: Date): Promise<number>;
}
