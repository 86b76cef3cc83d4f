import type { StoredEvent } from './domain-event.ts';

/** One event that is still to be delivered to one subscriber. */
export interface Delivery {
  readonly id: string;
  /** Differs for each claim. */
  readonly claim: string;
  readonly subscriber: string;
  /** How often it was tried before. */
  readonly attempts: number;
  readonly stored: StoredEvent;
}

/** A delivery that one process has claimed. */
export type HeldDelivery = Pick<Delivery, 'id' | 'claim'>;

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
export abstract class Outbox {
  /**
   * Leases up to `limit` due deliveries, oldest first, until `leaseUntil`. Deliveries of a dead process can be claimed
   * again after that.
   */
  abstract claim(now: Date, leaseUntil: Date, limit: number): Promise<readonly Delivery[]>;

  /** When the first delivery is due: in the past if one is due now. A claimed one is due when its lease ends. */
  abstract nextDueAt(): Promise<Date | undefined>;

  /** Marks deliveries as done, all of them or none; doing it twice is no error. */
  abstract done(...deliveryIds: string[]): Promise<void>;

  /** Gives a delivery back, to be tried at `nextAttemptAt`, unless another process has claimed it since. */
  abstract retry(held: HeldDelivery, nextAttemptAt: Date, problem: string): Promise<void>;

  /** Gives up on a delivery and keeps it for a person to look at, unless another process has claimed it since. */
  abstract park(held: HeldDelivery, problem: string): Promise<void>;

  abstract state(): Promise<OutboxState>;

  /** Of more than `mostCounted` that wait, one that was tried before may be older. */
  abstract oldest(): Promise<OldestDeliveries>;
}
