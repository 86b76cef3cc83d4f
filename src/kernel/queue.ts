import type { StoredEvent } from './decision.ts';

export interface Claimed {
  readonly id: string;
  /** Differs for each claim. A worker that still works on an item takes over its new claim. */
  claim: string;
}

export interface Most {
  readonly limit: number;
  /** Accounts that had a turn, the most recent last. */
  readonly lately?: readonly string[];
}

/** Holds scheduled work in the database. Calls with an old claim change nothing, unless the queue says otherwise. */
export interface Queue<Item extends Claimed, Wanted = Most> {
  /** Leases each due item to one caller. After `leaseUntil` it can be claimed again. */
  claim(now: Date, leaseUntil: Date, wanted: Wanted): Promise<readonly Item[]>;

  /** Returns when the first item is due, which may be in the past. A claimed item is due when its lease ends, or later. */
  nextDueAt(): Promise<Date | undefined>;

  /** Marks the items as done, all or none. A repetition is harmless. Queues without this method end items in another way. */
  done?(items: readonly Claimed[]): Promise<void>;

  /** Renews the leases of a worker that is still alive. Without this method, work must end before its lease. */
  prolong?(items: readonly Claimed[], leaseUntil: Date): Promise<void>;
}

export interface Delivery extends Claimed {
  readonly subscriber: string;
  readonly attempts: number;
  readonly stored: StoredEvent;
}

export interface OutboxState {
  readonly waiting: number;
  readonly parked: number;
}

/** When the events of the oldest deliveries occurred; undefined if there are none. */
export type OldestDeliveries = Readonly<Record<keyof OutboxState, Date | undefined>>;

/** The count has a limit, because each scrape of /metrics counts, even after days without a worker. */
export const mostCounted = 10_000;

/** Holds deliveries, which are stored in the same transaction as the state change. */
export abstract class Outbox implements Queue<Delivery> {
  /** Takes the oldest deliveries first. */
  abstract claim(now: Date, leaseUntil: Date, most: Most): Promise<readonly Delivery[]>;
  abstract nextDueAt(): Promise<Date | undefined>;
  /** Deletes deliveries, even if another process has claimed them. */
  abstract done(deliveries: readonly Pick<Claimed, 'id'>[]): Promise<void>;
  abstract retry(held: Claimed, nextAttemptAt: Date, problem: string): Promise<void>;
  /** Gives up on a delivery, but keeps it for a person to inspect. */
  abstract park(held: Claimed, problem: string): Promise<void>;

  abstract state(): Promise<OutboxState>;

  /** Returns the oldest deliveries. If more than `mostCounted` are waiting, a retried one may be older. */
  abstract oldest(): Promise<OldestDeliveries>;
}

export interface ParkedDelivery {
  readonly id: string;
  readonly subscriber: string;
  readonly attempts: number;
  /** The subscriber's last error, which may contain a secret. */
  readonly problem: string;
  readonly eventId: string;
  readonly type: string;
  readonly accountId: string;
  readonly occurredAt: Date;
}

export type Release = 'released' | 'not_parked' | 'unknown';

export abstract class ParkedDeliveries {
  /** Lists the oldest first, at most `limit`. @param after the last id of the previous page */
  abstract list(limit: number, after?: string): Promise<readonly ParkedDelivery[]>;

  /** Makes a delivery due and resets its attempts. Of concurrent callers, one gets `released`. */
  abstract release(deliveryId: string): Promise<Release>;

  abstract releaseAll(): Promise<number>;
}

/** Leases a job to one process of a fleet. A dead process's lease expires. */
export abstract class JobLeases {
  /**
   * Takes or renews the lease.
   * @param holder the process
   * @returns false if another process has it
   * @throws Unavailable
   */
  abstract hold(job: string, holder: string, now: Date, leaseUntil: Date): Promise<boolean>;

  /** Ends the lease. Does nothing if another process has it. @throws Unavailable */
  abstract release(job: string, holder: string): Promise<void>;
}
