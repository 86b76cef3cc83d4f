import type { Acting } from '../kernel/acting.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Decision } from '../kernel/decision.ts';
import type { StoredEvent } from '../kernel/domain-event.ts';
import type { Ids } from '../kernel/ids.ts';
import type { AccessEvent } from './domain/access-event.ts';
import type { Account } from './domain/account.ts';
import type { ApiKey, Rotation } from './domain/api-key.ts';
import type { Limits, Plan } from './domain/plan.ts';
import type { Person } from './domain/person.ts';
import type { Counts } from './domain/rate-quota.ts';
import type { Session } from './domain/session.ts';

/** A key to be stored, with the SHA-256 of its secret in lower-case hex. */
export interface KeyToStore {
  readonly key: ApiKey;
  readonly secretHash: string;
}

export abstract class Accounts {
  /**
   * Stores a new account, its first key, the first person who signs in, and the events together.
   * @throws DomainError `email_taken`, `person_taken`
   */
  abstract open(
    decision: Decision<Account, AccessEvent>,
    firstKey: Decision<KeyToStore, AccessEvent>,
    firstPerson: Decision<Person, AccessEvent>,
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

/** A key as its owner sees it. */
export interface ListedKey extends ApiKey {
  /** When the last of its old secrets ends, or ended; undefined for a key that was never rotated. */
  readonly oldSecretsUntil: Date | undefined;
}

export abstract class ApiKeys {
  /** @throws DomainError `account_not_found` */
  abstract add(decision: Decision<KeyToStore, AccessEvent>): Promise<void>;

  /** On every request: one look-up by an index. Never serves an answer older than a second. */
  abstract findBySecretHash(secretHash: string): Promise<KeyHolder | undefined>;

  /** Oldest first, revoked and expired ones too. */
  abstract list(accountId: string): Promise<readonly ListedKey[]>;

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

/** Who signs in to the dashboards. */
export abstract class People {
  /** @throws DomainError `person_taken` (by any account), `account_not_found` */
  abstract add(decision: Decision<Person, AccessEvent>): Promise<void>;

  /** Of one account, oldest first. */
  abstract list(accountId: string): Promise<readonly Person[]>;

  abstract find(id: string): Promise<Person | undefined>;

  /** @param email as `emailOf` gives it */
  abstract findByEmail(email: string): Promise<Person | undefined>;

  /**
   * Locks somebody, decides, stores, and ends all their other sessions and all their links; together or not at all.
   * Of rivals who come by different sessions, one succeeds.
   * @param sessionId by which it is changed, and which goes on
   * @throws DomainError `person_not_found`; `session_not_found` when that one has ended
   */
  abstract changePassword(
    id: string,
    sessionId: string,
    decide: (person: Person) => Decision<Person, AccessEvent>,
  ): Promise<void>;

  /**
   * Removes somebody with all sessions and links. Locks the people of the account, decides and removes as one step:
   * of rivals who remove each other, one stays.
   * @throws DomainError whatever `decide` throws
   */
  abstract remove(
    accountId: string,
    id: string,
    decide: (people: readonly Person[]) => readonly AccessEvent[],
  ): Promise<void>;
}

/** One who is signed in, as every request needs it. */
export interface SignedIn {
  readonly session: Session;
  readonly person: Person;
  readonly account: Account;
}

/** What lets somebody in. */
export type SignInProof =
  | {
      readonly way: 'password';
      /** The one that the password matched. */
      readonly passwordHash: string;
    }
  | { readonly way: 'link'; readonly linkHash: string };

/** A session that begins. */
export interface SessionStart {
  readonly session: Session;
  readonly secretHash: string;
  readonly proof: SignInProof;
  readonly events: readonly AccessEvent[];
}

/** Secrets come and stay as SHA-256 in lower-case hex. */
export abstract class Sessions {
  /**
   * Locks the person, asks again whether the proof holds, and stores session and events; together or not at all.
   * The password must not have changed since it matched. The link is used up: of many who bring the same at once,
   * one is let in.
   * @throws DomainError `sign_in_refused` by password, `sign_in_link_invalid` by link; also when the person is gone
   */
  abstract start(start: SessionStart): Promise<void>;

  /** On every request: one look-up by an index. Never serves an answer older than the last change. */
  abstract findBySecretHash(secretHash: string): Promise<SignedIn | undefined>;

  /** Of one person, newest first; also those that are over. */
  abstract list(personId: string): Promise<readonly Session[]>;

  /** Ends one of that person. @throws DomainError `session_not_found` */
  abstract end(personId: string, id: string, events: readonly AccessEvent[]): Promise<void>;

  /** Forgets those that ended before `before`. @returns how many */
  abstract sweep(before: Date): Promise<number>;
}

export interface SignInLink {
  readonly secretHash: string;
  readonly personId: string;
  readonly endsAt: Date;
}

/** Links that sign somebody in, once. Secrets come and stay as SHA-256 in lower-case hex. */
export abstract class SignInLinks {
  /** Stores it and the events together. @throws DomainError `person_not_found` */
  abstract add(link: SignInLink, events: readonly AccessEvent[]): Promise<void>;

  /**
   * Whose it is; `Sessions.start` uses it up.
   * @returns the id of a person; undefined when it is unknown, used or over
   */
  abstract personIdOf(secretHash: string, now: Date): Promise<string | undefined>;

  /** Forgets those that ended before `before`. @returns how many */
  abstract sweep(before: Date): Promise<number>;
}

/**
 * Hashes of passwords (scrypt, RFC 7914) in a form that says how they were made. Few are worked out side by side.
 * @throws Unavailable while too many wait for their turn
 */
export abstract class Passwords {
  /** Costs about a sixth of a second of one core on purpose. */
  abstract hash(password: string): Promise<string>;

  /** @param hash undefined where there is none: takes as long and says no. Never throws for a hash it cannot read */
  abstract matches(password: string, hash: string | undefined): Promise<boolean>;
}

export interface AuditEntry {
  readonly id: string;
  readonly accountId: string;
  /** Who did it; see `Acting`. */
  readonly actor: string;
  readonly what: string;
  readonly occurredAt: Date;
  /** The event's own ids, words and numbers. */
  readonly details: Readonly<Record<string, string | number>>;
}

/** Which entries of an audit log are looked for; what is left out leaves out none. */
export interface AuditSearch {
  /** Who did it; see `Acting`. */
  readonly actor?: string | undefined;
  /** Only entries with one of these in `what`. */
  readonly kinds?: readonly string[] | undefined;
  /** Only what is older than this entry. */
  readonly before?: Pick<AuditEntry, 'id' | 'occurredAt'> | undefined;
}

/** What happened in an account, for its owner to read. */
export abstract class AuditLog {
  /** Recording the same event twice leaves one entry. */
  abstract record(stored: StoredEvent): Promise<void>;

  /** Newest first. However many entries there are, it reads about as many as it gives. */
  abstract list(
    accountId: string,
    limit: number,
    search?: AuditSearch,
  ): Promise<readonly AuditEntry[]>;
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

/** Requests of an account with one outcome in one UTC hour or day. */
export interface UsageSum {
  /** Begin of the hour or day. */
  readonly begin: Date;
  readonly outcome: UsageOutcome;
  readonly requests: number;
}

/** How often a key called an operation. */
export interface CallsOfKey {
  readonly keyId: string;
  readonly operation: string;
  readonly requests: number;
  readonly lastHour: Date;
}

export abstract class UsageLog {
  /** Adds to what is there, and notes when keys were last used; all or nothing. */
  abstract add(hours: readonly HourOfUsage[], lastUsed: ReadonlyMap<string, Date>): Promise<void>;

  /** Of one account, oldest first. */
  abstract list(accountId: string, since: Date): Promise<readonly HourOfUsage[]>;

  /** Summed over keys and operations where it is kept, oldest first; hours and days without requests are left out. */
  abstract sum(accountId: string, since: Date, unit: 'hour' | 'day'): Promise<readonly UsageSum[]>;

  /** Who called any of these operations, summed over outcomes; who did last comes first. */
  abstract callsTo(
    operations: readonly string[],
    accountId: string,
    since: Date,
  ): Promise<readonly CallsOfKey[]>;

  /** Forgets hours before `before`. @returns how many rows */
  abstract sweep(before: Date): Promise<number>;
}

export interface AccessPorts {
  readonly accounts: Accounts;
  readonly apiKeys: ApiKeys;
  readonly keyMaterial: KeyMaterial;
  readonly counters: QuotaCounters;
  readonly usage: UsageLog;
  readonly people: People;
  readonly sessions: Sessions;
  readonly signInLinks: SignInLinks;
  readonly passwords: Passwords;
  readonly acting: Acting;
  readonly clock: Clock;
  readonly ids: Ids;
  /** Ids of operations that will be removed, as usage is counted under. */
  readonly deprecatedOperations: readonly string[];
}
