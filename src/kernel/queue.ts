/** What one process has claimed. */
export interface Held {
  readonly id: string;
  /** Differs for each claim. */
  readonly claim: string;
}

/** What there is room for. */
export interface Most {
  readonly limit: number;
  /** Accounts that had a turn, the latest last. */
  readonly lately?: readonly string[];
}

/**
 * Work in the database that waits for its time. What somebody does with an item that was claimed by somebody else since
 * changes nothing.
 */
export interface Queue<Item extends Held, Wanted = Most> {
  /** Leases what is due until `leaseUntil`, each item to one caller. Those of a dead process can be claimed again after that. */
  claim(now: Date, leaseUntil: Date, wanted: Wanted): Promise<readonly Item[]>;

  /** When the first item is due: in the past if one is due now. A claimed one is due when its lease ends, or later. */
  nextDueAt(): Promise<Date | undefined>;

  /** Ends the work on these, all of them or none; doing it twice is no error. Without it, the work itself does so. */
  done?(items: readonly Held[]): Promise<void>;

  /** Leases them for longer, for a worker that is still alive. */
  prolong?(items: readonly Held[], leaseUntil: Date): Promise<void>;

  /** Gives one back, to be tried at `nextAttemptAt`. */
  retry?(item: Held, nextAttemptAt: Date, problem: string): Promise<void>;

  /** Gives up on one and keeps it for a person to look at. */
  park?(item: Held, problem: string): Promise<void>;
}
