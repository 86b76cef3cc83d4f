import type { StoredEvent } from './decision.ts';

/** What one process has claimed. */
export interface Claimed {
  readonly id: string;
  /** Differs for each claim. If a process claims again what it still works on, its worker enters the new claim here. */
  claim: string;
}

/** What there is room for. */
export interface Most {
  readonly limit: number;
  /** Accounts that had a turn, the latest last. */
  readonly lately?: readonly string[];
}

/** Work in the database that waits for its time. Calls under an old claim change nothing, unless a queue says otherwise. */
export interface Queue<Item extends Claimed, Wanted = Most> {
  /** Leases what is due until `leaseUntil`, each item to one caller. Those of a dead process can be claimed again after that. */
  claim(now: Date, leaseUntil: Date, wanted: Wanted): Promise<readonly Item[]>;

  /** When the first item is due: in the past if one is due now. A claimed one is due when its lease ends, or later. */
  nextDueAt(): Promise<Date | undefined>;

  /** Ends the work on these, all of them or none; doing it twice is no error. Without it, the work itself does so. */
  done?(items: readonly Claimed[]): Promise<void>;

  /** Leases them for longer, for a worker that is still alive. Without it, the work ends before its lease. */
  prolong?(items: readonly Claimed[], leaseUntil: Date): Promise<void>;
}

/** One event that is still to be delivered to one subscriber. */
export interface Delivery extends Claimed {
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
  abstract done(deliveries: readonly Pick<Claimed, 'id'>[]): Promise<void>;
  /** Gives it back, to be tried at `nextAttemptAt`. */
  abstract retry(held: Claimed, nextAttemptAt: Date, problem: string): Promise<void>;
  /** Gives up on it and keeps it for a person to look at. */
  abstract park(held: Claimed, problem: string): Promise<void>;

  abstract state(): Promise<OutboxState>;

  /** Of more than `mostCounted` that wait, one that was tried before may be older. */
  abstract oldest(): Promise<OldestDeliveries>;
}

/** A delivery whose subscriber failed too often. */
export interface ParkedDelivery {
  readonly id: string;
  readonly subscriber: string;
  /** How often it was tried. */
  readonly attempts: number;
  /** The last error, as its subscriber worded it: it may contain a secret. */
  readonly problem: string;
  readonly eventId: string;
  readonly type: string;
  readonly accountId: string;
  readonly occurredAt: Date;
}

/** What became of a request to deliver one again. */
export type Release = 'released' | 'not_parked' | 'unknown';

/** The deliveries that the relay gave up on, for a person to look at and to release. */
export abstract class ParkedDeliveries {
  /** The oldest deliveries first, no more than `limit`. @param after the last id of the page before */
  abstract list(limit: number, after?: string): Promise<readonly ParkedDelivery[]>;

  /**
   * Makes one due now, with all its attempts before it again. Of several that ask at the same time one gets `released`.
   * A delivery that is not parked stays as it is, whoever works on it.
   */
  abstract release(deliveryId: string): Promise<Release>;

  /** Makes all due that are parked now. @returns how many this call released */
  abstract releaseAll(): Promise<number>;
}

/** Leases on jobs in a fleet: one process at a time; the lease of a dead process expires. */
export abstract class JobLeases {
  /**
   * Takes or renews the lease until `leaseUntil`.
   * @param holder the process; the same one may take it again
   * @returns whether the holder has the lease; false while another process has it
   * @throws Unavailable
   */
  abstract hold(job: string, holder: string, now: Date, leaseUntil: Date): Promise<boolean>;

  /** Releases the lease; does nothing if another process has it. @throws Unavailable */
  abstract release(job: string, holder: string): Promise<void>;
}
