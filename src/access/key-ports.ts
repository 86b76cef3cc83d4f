import type { Decision } from '../kernel/decision.ts';
import type { AccessEvent } from './domain/access-event.ts';
import type { Account } from './domain/account.ts';
import type { ApiKey, Rotation } from './domain/api-key.ts';
import type { Person } from './domain/person.ts';
import type { Limits, Plan } from './domain/plan.ts';

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

  /** Lower-case hex. */
  abstract sha256(text: string): string;
}
