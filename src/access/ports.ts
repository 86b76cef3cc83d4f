import type { AccessEvent } from './domain/access-event.ts';
import type { Account, EndingOperation } from './domain/account.ts';
import type { ApiKey, Rotation } from './domain/api-key.ts';
import type { Person } from './domain/person.ts';
import type { Counts, HighUse, Limits, Plan } from './domain/quota.ts';
import type {
  MailRequests,
  Passwords,
  People,
  PersonalMails,
  Sessions,
  SignInLinks,
  Passkeys,
  SecondFactors,
} from './people-ports.ts';
import type { Acting, Clock, Ids, Sealer } from '../kernel/ports.ts';
import type { Decision } from '../kernel/decision.ts';

/** A new key, with the SHA-256 hash of its secret in lower-case hex. */
export interface KeyToStore {
  readonly key: ApiKey;
  readonly secretHash: string;
}

export abstract class Accounts {
  /**
   * Saves a new account, its first key, its first person and the events together. E-mail addresses need not be unique,
   * because a person may open several accounts.
   */
  abstract open(
    decision: Decision<Account, AccessEvent>,
    firstKey: Decision<KeyToStore, AccessEvent>,
    firstPerson: Decision<Person, AccessEvent>,
  ): Promise<void>;

  /** Lists all accounts, the oldest first. */
  abstract list(): Promise<readonly Account[]>;

  abstract find(id: string): Promise<Account | undefined>;

  /**
   * Locks, decides and saves. A deletion ends all sessions and links of the account's people in the same step, and its
   * sites are no longer served.
   * @throws DomainError `account_not_found`
   */
  abstract change(
    id: string,
    decide: (account: Account) => Decision<Account, AccessEvent>,
  ): Promise<Account>;

  /** Lists the accounts that were deleted at or before `before`, the oldest first. */
  abstract deletedBefore(before: Date, limit: number): Promise<readonly Account[]>;

  abstract firstEnd(): Promise<Date | undefined>;

  /**
   * Deletes the account's data in small steps, and the account itself last. After an interruption, the next call
   * continues.
   * @param mayEnd asked first
   * @returns false if it may not end yet, has projects, or an event of it waits for a subscriber
   */
  abstract end(id: string, mayEnd: (account: Account) => boolean): Promise<boolean>;
}

/** The key that a request presented, with its account's plan and limits. */
export interface KeyHolder {
  readonly key: ApiKey;
  readonly plan: Plan;
  readonly limits: Limits;
  /** When the presented secret ends; set only for an old secret of a rotated key. */
  readonly secretUntil: Date | undefined;
}

export interface ListedKey extends ApiKey {
  /** When the last of the key's old secrets ends or ended; undefined for a key that was never rotated. */
  readonly oldSecretsUntil: Date | undefined;
}

export abstract class ApiKeys {
  /**
   * Saves key and events together, and deletes the oldest keys that no longer work beyond `keyLimits.kept`. Locks the
   * account's keys meanwhile.
   * @param admit gets the number of the account's working keys, and throws to refuse another
   * @throws DomainError `account_not_found`, and whatever `admit` throws
   */
  abstract add(
    decision: Decision<KeyToStore, AccessEvent>,
    admit?: (inUse: number) => void,
  ): Promise<void>;

  /**
   * Finds the key by one index look-up, because every request calls it. Never returns an answer older than a second.
   */
  abstract findBySecretHash(secretHash: string): Promise<KeyHolder | undefined>;

  /** Lists the keys, including revoked and expired ones, the oldest first, at most `keyLimits.kept`. */
  abstract list(accountId: string): Promise<readonly ListedKey[]>;

  /** Locks, decides and saves. @throws DomainError `api_key_not_found` */
  abstract change(
    id: string,
    decide: (key: ApiKey) => Decision<ApiKey, AccessEvent>,
  ): Promise<ApiKey>;

  /**
   * Locks, decides, adds the new secret, shortens the life of older ones, and keeps at most `keyLimits.secrets`, in one
   * step.
   * @throws DomainError `api_key_not_found`
   */
  abstract rotate(
    id: string,
    secretHash: string,
    decide: (key: ApiKey) => Decision<Rotation, AccessEvent>,
  ): Promise<ApiKey>;
}

export abstract class KeyMaterial {
  /** Returns characters of 0-9A-Za-z, each equally likely, from a cryptographic source. */
  abstract randomBase62(length: number): string;

  abstract sha256(text: string): string;

  /** Returns 160 bits in base32 (RFC 4648) from a cryptographic source, as RFC 4226 recommends. */
  abstract randomBase32(): string;

  /** Returns the six-digit code of a time step (RFC 6238, SHA-1). @param secret base32 */
  abstract timeCode(secret: string, step: number): string;
}

export interface Take {
  readonly subject: string;
  readonly limits: Limits;
  readonly striker?: string | undefined;
  readonly now: Date;
  /** Minimum known counts in these windows, even if the counters lost some. */
  readonly atLeast?: Counts | undefined;
}

export interface Taken {
  readonly allowed: boolean;
  readonly counts: Counts;
  /** The striker's refusals in this UTC minute, including this one. */
  readonly strikes: number;
}

/**
 * Counts requests in the current windows. The counts are exact: of N + k simultaneous takes against a limit of N, N are
 * allowed.
 */
export abstract class QuotaCounters {
  /** Counts one request in both windows if both have room. Otherwise counts it in neither and adds a strike. */
  abstract take(take: Take): Promise<Taken>;

  abstract peek(subject: string, now: Date): Promise<Counts>;
}

export abstract class HighUses {
  /** Notes high use. Every request of such an account calls it, so it returns at once and never throws. */
  abstract note(accountId: string, use: HighUse): void;
}

/** One subject's counters as plain data, which survive a restart. */
export interface CounterSnapshot {
  readonly subject: string;
  readonly data: string;
}

export abstract class CounterSnapshots {
  /** Replaces the saved counters of these subjects. */
  abstract save(snapshots: readonly CounterSnapshot[], now: Date): Promise<void>;
  abstract load(): Promise<readonly CounterSnapshot[]>;
}

export const usageOutcomes = ['2xx', '3xx', '4xx', 'refused', '5xx'] as const;
/** The class of the HTTP status; `refused` is 429. */
export type UsageOutcome = (typeof usageOutcomes)[number];

export interface AnsweredRequest {
  readonly accountId: string;
  readonly keyId: string;
  /** `none` for requests that match no operation. */
  readonly operation: string;
  readonly status: number;
  readonly at: Date;
}

export interface HourOfUsage {
  readonly accountId: string;
  readonly keyId: string;
  /** `none` for requests that match no operation. */
  readonly operation: string;
  readonly outcome: UsageOutcome;
  readonly hour: Date;
  readonly requests: number;
}

export interface Caller {
  readonly accountId: string;
  readonly keyId?: string | undefined;
}

export interface UsageSum {
  readonly begin: Date;
  readonly outcome: UsageOutcome;
  readonly requests: number;
}

export interface RequestsOfKey {
  readonly keyId: string;
  readonly outcome: UsageOutcome;
  readonly requests: number;
}

export interface CallsOfKey {
  readonly keyId: string;
  readonly operation: string;
  readonly requests: number;
  readonly lastHour: Date;
}

export const mostCalls = 100;

export abstract class UsageLog {
  /** Adds to the stored counts and notes when keys were last used, in one step. */
  abstract add(hours: readonly HourOfUsage[], lastUsed: ReadonlyMap<string, Date>): Promise<void>;

  /** Lists one account's hours, the oldest first. @param until excludes this and later hours; no end by default */
  abstract list(accountId: string, since: Date, until?: Date): Promise<readonly HourOfUsage[]>;

  /**
   * Sums in the database and returns the oldest first. Hours and days without requests are missing.
   * @param since the beginning of a unit
   */
  abstract sum(of: Caller, since: Date, unit: 'hour' | 'day'): Promise<readonly UsageSum[]>;

  /** Like `sum`, over all hours or days, for each key. */
  abstract sumByKey(
    accountId: string,
    since: Date,
    unit: 'hour' | 'day',
  ): Promise<readonly RequestsOfKey[]>;

  /**
   * Lists the account's keys that called any of these operations, summed over outcomes, the most recent caller first, at
   * most `mostCalls`.
   */
  abstract callsTo(
    operations: readonly string[],
    accountId: string,
    since: Date,
  ): Promise<readonly CallsOfKey[]>;
}

export interface AuditEntry {
  readonly id: string;
  readonly accountId: string;
  /** Who did it; see `Acting`. */
  readonly actor: string;
  readonly what: string;
  readonly occurredAt: Date;
  readonly details: Readonly<Record<string, string | number>>;
}

/** A subject with a history, by the name of its id in events. */
export type AuditSubject = { readonly petId: string } | { readonly orderId: string };

export interface AuditSearch {
  /** Who did it; see `Acting`. */
  readonly actor?: string | undefined;
  readonly kinds?: readonly string[] | undefined;
  readonly about?: readonly AuditSubject[] | undefined;
  readonly since?: Date | undefined;
  readonly until?: Date | undefined;
  readonly before?: Pick<AuditEntry, 'id' | 'occurredAt'> | undefined;
}

/** The stored events of an account, for its owners. Hidden events are not listed. */
export abstract class AuditLog {
  /** Lists the newest first. Reads about as many entries as it returns, however long the log is. */
  abstract list(
    accountId: string,
    limit: number,
    search?: AuditSearch,
  ): Promise<readonly AuditEntry[]>;
}

export interface KeptAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface IdempotentRequest {
  readonly accountId: string;
  readonly key: string;
  /** Distinguishes this request from others with the same key. */
  readonly fingerprint: string;
  readonly now: Date;
}

export type IdempotencyOutcome<Answer extends KeptAnswer = KeptAnswer> =
  | { readonly kind: 'answered'; readonly answer: Answer }
  | { readonly kind: 'replayed'; readonly answer: KeptAnswer }
  | { readonly kind: 'in_progress' | 'reused' }
  /**
   * The database kept the key without its answer, so it lost part of a transaction. Whether other writes survived is
   * unknown.
   */
  | { readonly kind: 'unknown' };

export abstract class IdempotencyKeys {
  /**
   * Runs `work` once per account and key. The writes of `work` and its answer are saved in one transaction, so a crash
   * keeps both or neither. When `work` throws, nothing is saved and the key is free again. Other parts of the result of
   * `work` are not saved. The transaction may run again, and `work` with it, so `work` does nothing but queries.
   * @param admit runs before the transaction, unless the request already has its answer; what it throws ends the
   * request
   */
  abstract once<Answer extends KeptAnswer>(
    request: IdempotentRequest,
    work: () => Promise<Answer>,
    admit?: () => Promise<void>,
  ): Promise<IdempotencyOutcome<Answer>>;

  /**
   * Replaces the answer of a key, or frees the key, for work that continues after its answer was saved.
   * @returns false, without a change, if the key has another answer by now
   */
  abstract replace(
    request: IdempotentRequest,
    answer: KeptAnswer,
    by: KeptAnswer | undefined,
  ): Promise<boolean>;
}

export interface AccessPorts {
  readonly accounts: Accounts;
  readonly apiKeys: ApiKeys;
  readonly keyMaterial: KeyMaterial;
  readonly counters: QuotaCounters;
  readonly highUses: HighUses;
  readonly usage: UsageLog;
  readonly people: People;
  readonly sessions: Sessions;
  readonly secondFactors: SecondFactors;
  readonly passkeys: Passkeys;
  readonly signInLinks: SignInLinks;
  readonly mailRequests: MailRequests;
  readonly personalMails: PersonalMails;
  readonly passwords: Passwords;
  readonly sealer: Sealer;
  readonly acting: Acting;
  readonly clock: Clock;
  readonly ids: Ids;
  /** Operations that will be removed, by the ids under which usage is counted. */
  readonly endings: readonly EndingOperation[];
}

/** An idempotency key keeps its answer for 24 hours and is then free again. */
export const idempotencyRetentionMs = 24 * 60 * 60 * 1000;

export const longestIdempotencyKey = 255;

export const forgottenBefore = (now: Date): Date =>
  new Date(now.getTime() - idempotencyRetentionMs);
