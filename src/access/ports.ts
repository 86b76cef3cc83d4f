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

/** A key to be stored, with the SHA-256 of its secret in lower-case hex. */
export interface KeyToStore {
  readonly key: ApiKey;
  readonly secretHash: string;
}

export abstract class Accounts {
  /**
   * Stores a new account, its first key, its first person and the events together. E-mail addresses need not be unique:
   * a person may open several accounts.
   */
  abstract open(
    decision: Decision<Account, AccessEvent>,
    firstKey: Decision<KeyToStore, AccessEvent>,
    firstPerson: Decision<Person, AccessEvent>,
  ): Promise<void>;

  /** All of them, oldest first. */
  abstract list(): Promise<readonly Account[]>;

  abstract find(id: string): Promise<Account | undefined>;

  /**
   * Locks, decides, stores. Deleting it ends all sessions and links of its people in the same step, and its sites are not
   * served any more.
   * @throws DomainError `account_not_found`
   */
  abstract change(
    id: string,
    decide: (account: Account) => Decision<Account, AccessEvent>,
  ): Promise<Account>;

  /** Those that were deleted by then, the oldest first. */
  abstract deletedBefore(before: Date, limit: number): Promise<readonly Account[]>;

  abstract firstEnd(): Promise<Date | undefined>;

  /**
   * Deletes it with all that belongs to it, in small steps, and the account itself last: an account that is half gone is
   * ended by the next call.
   * @param mayEnd asked first
   * @returns false if it may not end yet, has projects, or an event of it waits for a subscriber
   */
  abstract end(id: string, mayEnd: (account: Account) => boolean): Promise<boolean>;
}

/** A key that was presented, with what a request needs to know of its account. */
export interface KeyHolder {
  readonly key: ApiKey;
  readonly plan: Plan;
  readonly limits: Limits;
  /** When the secret that was presented ends: it is an old one of a rotated key. */
  readonly secretUntil: Date | undefined;
}

export interface ListedKey extends ApiKey {
  /** When the last of its old secrets ends, or ended; undefined for a key that was never rotated. */
  readonly oldSecretsUntil: Date | undefined;
}

export abstract class ApiKeys {
  /**
   * Stores the key and its events together, and forgets the oldest keys that no longer work beyond `keyLimits.kept`.
   * @param admit gets how many keys of the account work, and throws to refuse another: meanwhile nobody adds one
   * @throws DomainError `account_not_found`, and whatever `admit` throws
   */
  abstract add(
    decision: Decision<KeyToStore, AccessEvent>,
    admit?: (inUse: number) => void,
  ): Promise<void>;

  /** On every request: one look-up by an index. Never serves an answer older than a second. */
  abstract findBySecretHash(secretHash: string): Promise<KeyHolder | undefined>;

  /** Oldest first, revoked and expired ones too: `keyLimits.kept` at most. */
  abstract list(accountId: string): Promise<readonly ListedKey[]>;

  /** Locks, decides, stores. @throws DomainError `api_key_not_found` */
  abstract change(
    id: string,
    decide: (key: ApiKey) => Decision<ApiKey, AccessEvent>,
  ): Promise<ApiKey>;

  /**
   * Locks, decides, adds the new secret, shortens the life of the older ones, and keeps no more than
   * `keyLimits.secrets`, all together.
   * @throws DomainError `api_key_not_found`
   */
  abstract rotate(
    id: string,
    secretHash: string,
    decide: (key: ApiKey) => Decision<Rotation, AccessEvent>,
  ): Promise<ApiKey>;
}

export abstract class KeyMaterial {
  /** Characters of 0-9A-Za-z, each equally likely, from a cryptographic source. */
  abstract randomBase62(length: number): string;

  abstract sha256(text: string): string;

  /** Base32 (RFC 4648), from a cryptographic source: 160 bits, as RFC 4226 recommends. */
  abstract randomBase32(): string;

  /** The code of six digits of a time step (RFC 6238, SHA-1). @param secret base32 */
  abstract timeCode(secret: string, step: number): string;
}

export interface Take {
  readonly subject: string;
  readonly limits: Limits;
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
  /** Takes one from the minute and one from the day if both have one left; otherwise takes neither and adds a strike. */
  abstract take(take: Take): Promise<Taken>;

  abstract peek(subject: string, now: Date): Promise<Counts>;
}

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

export const usageOutcomes = ['2xx', '3xx', '4xx', 'refused', '5xx'] as const;
/** The class of the status; `refused` is 429. */
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
  /** Adds to what is there, and notes when keys were last used; all or nothing. */
  abstract add(hours: readonly HourOfUsage[], lastUsed: ReadonlyMap<string, Date>): Promise<void>;

  /** Of one account, oldest first. @param until the first hour that is left out; none by default */
  abstract list(accountId: string, since: Date, until?: Date): Promise<readonly HourOfUsage[]>;

  /** Summed where it is kept, oldest first; hours and days without requests are left out. */
  abstract sum(of: Caller, since: Date, unit: 'hour' | 'day'): Promise<readonly UsageSum[]>;

  /** Summed over hours and operations where it is kept. */
  abstract sumByKey(accountId: string, since: Date): Promise<readonly RequestsOfKey[]>;

  /** The keys that called any of these operations, summed over outcomes, most recent caller first: `mostCalls` at most. */
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

/** Something that has a history, by the name of its id in events. */
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

/** What happened in an account, for its owner to read: its stored events, but for those that it hides. */
export abstract class AuditLog {
  /** Newest first. Reads about as many entries as it returns, however long the log is. */
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
  /** The database kept the key without its answer, so it lost part of a transaction; what else was stored is unknown. */
  | { readonly kind: 'unknown' };

export abstract class IdempotencyKeys {
  /**
   * Runs `work` once per account and key. What `work` writes and its answer are stored in one transaction: after a
   * crash there is both or neither. When `work` throws, nothing is kept and the key is free again. Other parts of its
   * result are not stored. The transaction may run again, and `work` with it, so `work` does nothing but queries.
   * @param admit runs before the transaction, unless the request has its answer already; what it throws ends the request
   */
  abstract once<Answer extends KeptAnswer>(
    request: IdempotentRequest,
    work: () => Promise<Answer>,
    admit?: () => Promise<void>,
  ): Promise<IdempotencyOutcome<Answer>>;

  /**
   * Keeps another answer under a key, or none, which frees it: for work that goes on after its answer was stored.
   * @returns false, and changes nothing, if the key has another answer by now
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
  /** Operations that will be removed, by the ids that usage is counted under. */
  readonly endings: readonly EndingOperation[];
}

/** An answer is kept for 24 hours under its idempotency key; afterwards the key is free again. */
export const idempotencyRetentionMs = 24 * 60 * 60 * 1000;

export const longestIdempotencyKey = 255;

export const forgottenBefore = (now: Date): Date =>
  new Date(now.getTime() - idempotencyRetentionMs);
