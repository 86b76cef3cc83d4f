/** What one process has claimed. */
export interface Held {
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
export interface Queue<Item extends Held, Wanted = Most> {
  /** Leases what is due until `leaseUntil`, each item to one caller. Those of a dead process can be claimed again after that. */
  claim(now: Date, leaseUntil: Date, wanted: Wanted): Promise<readonly Item[]>;

  /** When the first item is due: in the past if one is due now. A claimed one is due when its lease ends, or later. */
  nextDueAt(): Promise<Date | undefined>;

  /** Ends the work on these, all of them or none; doing it twice is no error. Without it, the work itself does so. */
  done?(items: readonly Held[]): Promise<void>;

  /** Leases them for longer, for a worker that is still alive. Without it, the work ends before its lease. */
  prolong?(items: readonly Held[], leaseUntil: Date): Promise<void>;
}
