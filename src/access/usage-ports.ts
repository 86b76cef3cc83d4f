export const usageOutcomes = ['2xx', '3xx', '4xx', 'refused', '5xx'] as const;
/** The class of the status; `refused` is 429. */
export type UsageOutcome = (typeof usageOutcomes)[number];

/** A request with a valid key, and how it was answered. */
export interface AnsweredRequest {
  readonly accountId: string;
  readonly keyId: string;
  /** `none` for requests that match no operation. */
  readonly operation: string;
  readonly status: number;
  readonly at: Date;
}

/** Requests of one key to one operation with one outcome in one UTC hour. */
export interface HourOfUsage {
  readonly accountId: string;
  readonly keyId: string;
  /** `none` for requests that match no operation. */
  readonly operation: string;
  readonly outcome: UsageOutcome;
  readonly hour: Date;
  readonly requests: number;
}

/** Requests of an account with one outcome in one UTC hour or day. */
export interface UsageSum {
  readonly begin: Date;
  readonly outcome: UsageOutcome;
  readonly requests: number;
}

export interface CallsOfKey {
  readonly keyId: string;
  readonly operation: string;
  readonly requests: number;
  readonly lastHour: Date;
}

/** Keys and operations in `callsTo`. */
export const mostCalls = 100;

export abstract class UsageLog {
  /** Adds to what is there, and notes when keys were last used; all or nothing. */
  abstract add(hours: readonly HourOfUsage[], lastUsed: ReadonlyMap<string, Date>): Promise<void>;

  /** Of one account, oldest first. */
  abstract list(accountId: string, since: Date): Promise<readonly HourOfUsage[]>;

  /** Summed over keys and operations where it is kept, oldest first; hours and days without requests are left out. */
  abstract sum(accountId: string, since: Date, unit: 'hour' | 'day'): Promise<readonly UsageSum[]>;

  /** The keys that called any of these operations, summed over outcomes, most recent caller first: `mostCalls` at most. */
  abstract callsTo(
    operations: readonly string[],
    accountId: string,
    since: Date,
  ): Promise<readonly CallsOfKey[]>;
}
