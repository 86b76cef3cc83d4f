import type { Limits } from './domain/plan.ts';
import type { Counts, HighUse } from './domain/rate-quota.ts';

export interface Take {
  /** Whose quota: an account, or an address. */
  readonly subject: string;
  readonly limits: Limits;
  /** The key that gets a strike when nothing is left. */
  readonly striker?: string | undefined;
  readonly now: Date;
  /** So many are known to have passed in these windows, also if the counters have lost some. */
  readonly atLeast?: Counts | undefined;
}

export interface Taken {
  readonly allowed: boolean;
  readonly counts: Counts;
  /** Refusals of the striker in this UTC minute, this one included. */
  readonly strikes: number;
}

/** Counts of the current windows. Exact: of N + k simultaneous takes against a limit of N, N are allowed. */
export abstract class QuotaCounters {
  /**
   * Takes one from the minute and one from the day if both have one left; otherwise takes neither and adds a strike.
   */
  abstract take(take: Take): Promise<Taken>;

  /** The counts as they are; changes nothing. */
  abstract peek(subject: string, now: Date): Promise<Counts>;
}

/** Hears of accounts that have used most of their day. */
export abstract class HighUses {
  /** On each of their requests: returns at once and never throws. */
  abstract note(accountId: string, use: HighUse): void;
}

/** One subject's counters as plain data, to be kept over a restart. */
export interface CounterSnapshot {
  readonly subject: string;
  readonly data: string;
}

export abstract class CounterSnapshots {
  /** Replaces what is kept of these subjects. */
  abstract save(snapshots: readonly CounterSnapshot[], now: Date): Promise<void>;
  abstract load(): Promise<readonly CounterSnapshot[]>;
}
