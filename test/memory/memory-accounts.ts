import { accountNotFound, apiKeyNotFound } from '../../src/access/domain/access-error.ts';
import type { AccessEvent } from '../../src/access/domain/access-event.ts';
import type { Account } from '../../src/access/domain/account.ts';
import type { ApiKey, Rotation } from '../../src/access/domain/api-key.ts';
import type { Person } from '../../src/access/domain/person.ts';
import { limitsOf } from '../../src/access/domain/plan.ts';
import {
  Accounts,
  ApiKeys,
  type KeyHolder,
  type KeyToStore,
  type ListedKey,
} from '../../src/access/key-ports.ts';
import type { Decision } from '../../src/kernel/decision.ts';
import type { MemoryOutbox } from './memory-outbox.ts';
import { MemoryPeople } from './memory-people.ts';
import { oldestFirst } from './oldest-first.ts';

/** Accounts, their keys and people are kept together, as in a database with foreign keys. */
export class MemoryAccounts extends Accounts {
  readonly #outbox: MemoryOutbox;
  readonly #accounts = new Map<string, Account>();
  readonly apiKeys: MemoryApiKeys;
  readonly people: MemoryPeople;

  constructor(outbox: MemoryOutbox) {
    super();
    this.#outbox = outbox;
    const account = (id: string) => this.#accounts.get(id);
    this.apiKeys = new MemoryApiKeys(outbox, account);
    this.people = new MemoryPeople(outbox, account);
  }

  override async open(
    { state, events }: Decision<Account, AccessEvent>,
    firstKey: Decision<KeyToStore, AccessEvent>,
    firstPerson: Decision<Person, AccessEvent>,
  ): Promise<void> {
    for (const { accountId } of [firstKey.state.key, firstPerson.state]) {
      if (accountId !== state.id) throw accountNotFound(accountId);
    }
    this.#accounts.set(state.id, structuredClone(state));
    this.#outbox.append(events);
    await this.apiKeys.add(firstKey);
    await this.people.add(firstPerson);
  }

  override list(): Promise<readonly Account[]> {
    return Promise.resolve(structuredClone([...this.#accounts.values()].sort(oldestFirst)));
  }

  override find(id: string): Promise<Account | undefined> {
    return Promise.resolve(structuredClone(this.#accounts.get(id)));
  }

  override async change(
    id: string,
    decide: (account: Account) => Decision<Account, AccessEvent>,
  ): Promise<Account> {
    await Promise.resolve();
    const account = this.#accounts.get(id);
    if (!account) throw accountNotFound(id);
    const { state, events } = decide(structuredClone(account));
    this.#accounts.set(id, structuredClone(state));
    this.#outbox.append(events);
    return state;
  }
}

interface Secret {
  readonly keyId: string;
  readonly until: Date | undefined;
}

export class MemoryApiKeys extends ApiKeys {
  readonly #outbox: MemoryOutbox;
  readonly #account: (id: string) => Account | undefined;
  readonly #keys = new Map<string, ApiKey>();
  readonly #secrets = new Map<string, Secret>();

  constructor(outbox: MemoryOutbox, account: (id: string) => Account | undefined) {
    super();
    this.#outbox = outbox;
    this.#account = account;
  }

  override async add({ state, events }: Decision<KeyToStore, AccessEvent>): Promise<void> {
    await Promise.resolve();
    const { key, secretHash } = state;
    if (!this.#account(key.accountId)) throw accountNotFound(key.accountId);
    this.#keys.set(key.id, structuredClone(key));
    this.#secrets.set(secretHash, { keyId: key.id, until: undefined });
    this.#outbox.append(events);
  }

  override findBySecretHash(secretHash: string): Promise<KeyHolder | undefined> {
    const secret = this.#secrets.get(secretHash);
    const key = secret && this.#keys.get(secret.keyId);
    const account = key && this.#account(key.accountId);
    if (!account) return Promise.resolve(undefined);
    const { plan, ownLimits } = account;
    const limits = limitsOf(plan, ownLimits);
    return Promise.resolve(structuredClone({ key, plan, limits, secretUntil: secret.until }));
  }

  override list(accountId: string): Promise<readonly ListedKey[]> {
    const mine = [...this.#keys.values()]
      .filter((key) => key.accountId === accountId)
      .map((key) => ({ ...key, oldSecretsUntil: this.#lastEnd(key.id) }));
    return Promise.resolve(structuredClone(mine.sort(oldestFirst)));
  }

  override async change(
    id: string,
    decide: (key: ApiKey) => Decision<ApiKey, AccessEvent>,
  ): Promise<ApiKey> {
    await Promise.resolve();
    const { state, events } = decide(this.#get(id));
    this.#keys.set(id, structuredClone(state));
    this.#outbox.append(events);
    return state;
  }

  override async rotate(
    id: string,
    secretHash: string,
    decide: (key: ApiKey) => Decision<Rotation, AccessEvent>,
  ): Promise<ApiKey> {
    await Promise.resolve();
    const { state, events } = decide(this.#get(id));
    const { key, oldSecretsUntil } = structuredClone(state);
    for (const [hash, secret] of this.#secrets) {
      const sooner = !secret.until || secret.until > oldSecretsUntil;
      if (secret.keyId === id && sooner) {
        this.#secrets.set(hash, { keyId: id, until: oldSecretsUntil });
      }
    }
    this.#secrets.set(secretHash, { keyId: id, until: undefined });
    this.#keys.set(id, key);
    this.#outbox.append(events);
    return state.key;
  }

  /** For the other adapters of this folder: a key was used. The time never moves back. */
  noteUse(id: string, at: Date): void {
    const key = this.#keys.get(id);
    if (!key || (key.lastUsedAt && key.lastUsedAt >= at)) return;
    this.#keys.set(id, { ...key, lastUsedAt: new Date(at) });
  }

  #lastEnd(id: string): Date | undefined {
    const secrets = [...this.#secrets.values()].filter(({ keyId }) => keyId === id);
    const ends = secrets.flatMap(({ until }) => until ?? []);
    return ends.sort((a, b) => a.getTime() - b.getTime()).at(-1);
  }

  #get(id: string): ApiKey {
    const key = this.#keys.get(id);
    if (!key) throw apiKeyNotFound(id);
    return structuredClone(key);
  }
}
