import { accountNotFound, apiKeyNotFound, emailTaken } from '../../access/domain/access-error.ts';
import type { AccessEvent } from '../../access/domain/access-event.ts';
import type { Account } from '../../access/domain/account.ts';
import type { ApiKey } from '../../access/domain/api-key.ts';
import { Accounts, ApiKeys, type KeyHolder, type KeyToStore } from '../../access/ports.ts';
import type { Decision } from '../../kernel/decision.ts';
import type { MemoryOutbox } from './memory-outbox.ts';
import { oldestFirst } from './oldest-first.ts';

/** Accounts and their keys live together, as they do in a database with a foreign key. */
export class MemoryAccounts extends Accounts {
  readonly #outbox: MemoryOutbox;
  readonly #accounts = new Map<string, Account>();
  readonly apiKeys: MemoryApiKeys;

  constructor(outbox: MemoryOutbox) {
    super();
    this.#outbox = outbox;
    this.apiKeys = new MemoryApiKeys(outbox, (id) => this.#accounts.get(id));
  }

  override async open(
    { state, events }: Decision<Account, AccessEvent>,
    firstKey: Decision<KeyToStore, AccessEvent>,
  ): Promise<void> {
    if ([...this.#accounts.values()].some(({ email }) => email === state.email)) {
      throw emailTaken(state.email);
    }
    const { accountId } = firstKey.state.key;
    if (accountId !== state.id) throw accountNotFound(accountId);
    this.#accounts.set(state.id, structuredClone(state));
    this.#outbox.append(events);
    await this.apiKeys.add(firstKey);
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

class MemoryApiKeys extends ApiKeys {
  readonly #outbox: MemoryOutbox;
  readonly #account: (id: string) => Account | undefined;
  readonly #kept = new Map<string, KeyToStore>();

  constructor(outbox: MemoryOutbox, account: (id: string) => Account | undefined) {
    super();
    this.#outbox = outbox;
    this.#account = account;
  }

  override async add({ state, events }: Decision<KeyToStore, AccessEvent>): Promise<void> {
    await Promise.resolve();
    if (!this.#account(state.key.accountId)) throw accountNotFound(state.key.accountId);
    this.#kept.set(state.key.id, structuredClone(state));
    this.#outbox.append(events);
  }

  override findBySecretHash(secretHash: string): Promise<KeyHolder | undefined> {
    const kept = [...this.#kept.values()].find((one) => one.secretHash === secretHash);
    const account = kept && this.#account(kept.key.accountId);
    return Promise.resolve(account && { key: structuredClone(kept.key), plan: account.plan });
  }

  override list(accountId: string): Promise<readonly ApiKey[]> {
    const keys = [...this.#kept.values()].map(({ key }) => key);
    const mine = keys.filter((key) => key.accountId === accountId);
    return Promise.resolve(structuredClone(mine.sort(oldestFirst)));
  }

  override async change(
    id: string,
    decide: (key: ApiKey) => Decision<ApiKey, AccessEvent>,
  ): Promise<ApiKey> {
    await Promise.resolve();
    const kept = this.#kept.get(id);
    if (!kept) throw apiKeyNotFound(id);
    const { state, events } = decide(structuredClone(kept.key));
    this.#kept.set(id, { ...kept, key: structuredClone(state) });
    this.#outbox.append(events);
    return state;
  }
}
