import type { Clock } from '../kernel/clock.ts';
import type { Decision } from '../kernel/decision.ts';
import type { StoredEvent } from '../kernel/domain-event.ts';
import type { Ids } from '../kernel/ids.ts';
import type { AccessEvent } from './domain/access-event.ts';
import type { Account } from './domain/account.ts';
import type { ApiKey, Rotation } from './domain/api-key.ts';
import type { Limits, Plan } from './domain/plan.ts';
import type { Counts } from './domain/rate-quota.ts';

/** A key to be stored, with the SHA-256 of its secret in lower-case hex. */
export interface KeyToStore {
  readonly key: ApiKey;
  readonly secretHash: string;
}

export abstract class Accounts {
  /**
   * Stores a new account, its first key and the events together.
   * @throws DomainError `email_taken`
   */
  abstract open(
    decision: Decision<Account, AccessEvent>,
    firstKey: Decision<KeyToStore, AccessEvent>,
  ): Promise<void>;

  /** All of them, oldest first. */
  abstract list(): Promise<readonly Account[]>;

  abstract find(id: string): Promise<Account | undefined>;

  /** Locks, decides, stores. @throws DomainError `account_not_found` */
  abstract change(
    id: string,
    decide: (account: Account) => Decision<Account, AccessEvent>,
  ): Promise<Account>;
}

/** A key that was presented, with what a request needs to know of its account. */
export interface KeyHolder {
  readonly key: ApiKey;
  readonly plan: Plan;
  readonly limits: Limits;
  /** When the secret that was presented ends: it is an old one of a rotated key. */
  readonly secretUntil: Date | undefined;
}

export abstract class ApiKeys {
  /** @throws DomainError `account_not_found` */
  abstract add(decision: Decision<KeyToStore, AccessEvent>): Promise<void>;

  /** On every request: one look-up by an index. Never serves an answer older than a second. */
  abstract findBySecretHash(secretHash: string): Promise<KeyHolder | undefined>;

  /** Oldest first, revoked and expired ones too. */
  abstract list(accountId: string): Promise<readonly ApiKey[]>;

  /** Locks, decides, stores. @throws DomainError `api_key_not_found` */
  abstract change(
    id: string,
    decide: (key: ApiKey) => Decision<ApiKey, AccessEvent>,
  ): Promise<ApiKey>;

  /**
   * Locks, decides, adds the new secret and shortens the life of the older ones, all together.
   * @throws DomainError `api_key_not_found`
   */
  abstract rotate(
    id: string,
    secretHash: string,
    decide: (key: ApiKey) => Decision<Rotation, AccessEvent>,
  ): Promise<ApiKey>;
}

/** Randomness and digests for secrets. */
export abstract class KeyMaterial {
  /** Characters of 0-9A-Za-z, each equally likely, from a cryptographic source. */
  abstract randomBase62(length: number): string;

  /** Lower-case hex. */
  abstract sha256(text: string): string;
}

export interface AuditEntry {
  readonly id: string;
  readonly accountId: string;
  readonly what: string;
  readonly occurredAt: Date;
  /** The event's own ids, words and numbers. */
  readonly details: Readonly<Record<string, string | number>>;
}

/** What happened in an account, for its owner to read. */
export abstract class AuditLog {
  /** Recording the same event twice leaves one entry. */
  abstract record(stored: StoredEvent): Promise<void>;

  /** Newest first. */
  abstract list(accountId: string, limit: number): Promise<readonly AuditEntry[]>;
}

/** What was answered first under an idempotency key. */
export interface KeptAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface IdempotentRequest {
  readonly accountId: string;
  readonly key: string;
  /** Tells this request from another one under the same key. */
  readonly fingerprint: string;
  readonly now: Date;
}

export type IdempotencyOutcome =
  | { readonly kind: 'answered' | 'replayed'; readonly answer: KeptAnswer }
  | { readonly kind: 'in_progress' | 'reused' };

export abstract class IdempotencyKeys {
  /**
   * Runs `work` once per account and key. What `work` writes and its answer are stored in one transaction:
   * after a crash there is both or neither. When `work` throws, nothing is kept and the key is free again.
   */
  abstract once(
    request: IdempotentRequest,
    work: () => Promise<KeptAnswer>,
  ): Promise<IdempotencyOutcome>;

  /** Forgets answers first given before `before`. @returns how many */
  abstract sweep(before: Date): Promise<number>;
}

export interface Take {
  /** Whose quota: an account, or an address. */
  readonly subject: string;
  readonly limits: Limits;
  /** The key that gets a strike when nothing is left. */
  readonly striker?: string | undefined;
  readonly now: Date;
}

export interface Taken {
  readonly allowed: boolean;
  /** After this take. */
  readonly counts: Counts;
  /** Refusals of the striker in this UTC minute, this one included. */
  readonly strikes: number;
}

/** What has passed in the current windows. Exact: of N + k takes at once against a limit of N, N are allowed. */
export abstract class QuotaCounters {
  /** Takes one of the minute and one of the day if both have one left; else takes neither and adds a strike. */
  abstract take(take: Take): Promise<Taken>;

  /** The counts as they are; changes nothing. */
  abstract peek(subject: string, now: Date): Promise<Counts>;
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
  /** Forgets what was saved before `before`. @returns how many */
  abstract sweep(before: Date): Promise<number>;
}

export const usageOutcomes = ['2xx', '3xx', '4xx', 'refused', '5xx'] as const;
/** The class of the status; `refused` is 429. */
export type UsageOutcome = (typeof usageOutcomes)[number];

/** Requests of one key to one operation with one outcome in one UTC hour. */
export interface HourOfUsage {
  readonly accountId: string;
  readonly keyId: string;
  /** `none` for what is no operation. */
  readonly operation: string;
  readonly outcome: UsageOutcome;
  /** Begin of the hour. */
  readonly hour: Date;
  readonly requests: number;
}

export abstract class UsageLog {
  /** Adds to what is there, and notes when keys were last used; all or nothing. */
  abstract add(hours: readonly HourOfUsage[], lastUsed: ReadonlyMap<string, Date>): Promise<void>;

  /** Of one account, oldest first. */
  abstract list(accountId: string, since: Date): Promise<readonly HourOfUsage[]>;

  /** Forgets hours before `before`. @returns how many rows */
  abstract sweep(before: Date): Promise<number>;
}

export interface AccessPorts {
  readonly accounts: Accounts;
  readonly apiKeys: ApiKeys;
  readonly keyMaterial: KeyMaterial;
  readonly counters: QuotaCounters;
  readonly usage: UsageLog;
  readonly clock: Clock;
  readonly ids: Ids;
}
