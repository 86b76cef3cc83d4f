import type { Selectable } from 'kysely';
import { LRUCache } from 'lru-cache';
import { accountDeleted, apiKeyNotFound } from '../../../access/domain/access-error.ts';
import type { AccessEvent } from '../../../access/domain/access-event.ts';
import {
  keyLimits,
  roomFor,
  type ApiKey,
  type Rotation,
  type Ban,
} from '../../../access/domain/api-key.ts';
import { limitsOf, type Limits } from '../../../access/domain/quota.ts';
import type { ApiKeys, KeyHolder, KeyToStore, ListedKey } from '../../../access/ports.ts';
import type { Decision } from '../../../kernel/decision.ts';
import { type Queries, fromMillisOrNull, toMillis, type Schema } from '../database.ts';
import { AggregateStore } from '../store.ts';
import { accounts, apiKeys, apiKeySecrets } from './tables.ts';

type KeyRow = Selectable<Schema['api_keys']>;
type HolderRow = KeyRow &
  Pick<Selectable<Schema['accounts']>, 'plan' | 'per_minute' | 'per_day'> &
  Pick<Selectable<Schema['api_key_secrets']>, 'ends_at'>;

export class KyselyApiKeys extends AggregateStore implements ApiKeys {
  readonly #findBySecretHash = this.database.prepare<{ secretHash: string }, HolderRow>((db, the) =>
    db
      .selectFrom('api_key_secrets')
      .innerJoin('api_keys', 'api_keys.id', 'api_key_secrets.key_id')
      .innerJoin('accounts', 'accounts.id', 'api_keys.account_id')
      .selectAll('api_keys')
      .select(['accounts.plan', 'accounts.per_minute', 'accounts.per_day', 'ends_at'])
      .where('secret_hash', '=', the('secretHash'))
      .where('accounts.deleted_at', 'is', null),
  );

  /** Holds rows, because callers may change the objects that they receive. */
  readonly #holders = new TtlCache<HolderRow>();

  async add(
    { state, events }: Decision<KeyToStore, AccessEvent>,
    admit: (inUse: number) => void = () => undefined,
  ): Promise<void> {
    const { key, secretHash } = state;
    const lock = async (db: Queries) => {
      await this.lockAccount(key.accountId);
      const rows = await ofAccount(db, key.accountId).select(dated.names).execute();
      return roomFor(rows.map(dated.read), key.createdAt);
    };
    await this.changing(
      lock,
      ({ inUse }) => {
        admit(inUse);
        return { events };
      },
      async (_decision, db, { surplus }) => {
        if (surplus.length > 0) await this.#forgetKeys(surplus);
        await db.insertInto('api_keys').values(toRow(key)).execute();
        await this.#addSecret(key.id, secretHash);
      },
    );
  }

  async findBySecretHash(secretHash: string): Promise<KeyHolder | undefined> {
    const row = await this.#holders.get(secretHash, async () => {
      const [found] = await this.#findBySecretHash({ secretHash });
      return found;
    });
    return row && holderFrom(row);
  }

  async list(accountId: string): Promise<readonly ListedKey[]> {
    const rows = await this.db
      .selectFrom('api_keys')
      .selectAll()
      .select((key) =>
        key
          .selectFrom('api_key_secrets')
          .select((secret) => secret.fn.max('ends_at').as('end'))
          .whereRef('key_id', '=', 'api_keys.id')
          .as('old_secrets_end'),
      )
      .where('account_id', '=', accountId)
      .orderBy('revoked_at')
      .orderBy('created_at')
      .orderBy('id')
      .limit(keyLimits.kept)
      .execute();
    return rows.toSorted(oldestFirst).map((row) => ({
      ...fromRow(row),
      oldSecretsUntil: fromMillisOrNull(row.old_secrets_end),
    }));
  }

  async change(
    id: string,
    decide: (key: ApiKey) => Decision<ApiKey, AccessEvent>,
  ): Promise<ApiKey> {
    const { state } = await this.changing(
      () => this.#lock(id),
      decide,
      ({ state }) => this.#update(state),
    );
    this.forget();
    return state;
  }

  async rotate(
    id: string,
    secretHash: string,
    decide: (key: ApiKey) => Decision<Rotation, AccessEvent>,
  ): Promise<ApiKey> {
    const { state } = await this.changing(
      async () => {
        const key = await this.#lock(id);
        await this.#refuseDeleted(key.accountId);
        return key;
      },
      decide,
      async ({ state }) => {
        await this.#endSecrets(id, state.oldSecretsUntil);
        await this.#forgetSecrets(id, keyLimits.secrets - 1);
        await this.#addSecret(id, secretHash);
        await this.#update(state.key);
      },
    );
    this.forget();
    return state.key;
  }

  /** Empties the cache. Call it after a change of a key or its account. */
  forget(): void {
    this.#holders.clear();
  }

  async #lock(id: string): Promise<ApiKey> {
    const row = await this.database.lock('api_keys', id);
    if (!row) throw apiKeyNotFound(id);
    return fromRow(row);
  }

  /** Does not lock the account: adding a key locks the account before keys. */
  async #refuseDeleted(accountId: string): Promise<void> {
    const deleted = this.db.selectFrom('accounts').select('id').where('id', '=', accountId);
    if (await deleted.where('deleted_at', 'is not', null).executeTakeFirst())
      throw accountDeleted(accountId);
  }

  async #update(key: ApiKey): Promise<void> {
    await this.db.updateTable('api_keys').set(toRow(key)).where('id', '=', key.id).execute();
  }

  async #forgetKeys(ids: readonly string[]): Promise<void> {
    await this.db.deleteFrom('api_key_secrets').where('key_id', 'in', ids).execute();
    await this.db.deleteFrom('api_keys').where('id', 'in', ids).execute();
  }

  /** Deletes all secrets but the `kept` ones that expire last. */
  async #forgetSecrets(keyId: string, kept: number): Promise<void> {
    const all = await this.db
      .selectFrom('api_key_secrets')
      .select('secret_hash')
      .where('key_id', '=', keyId)
      .orderBy('ends_at', 'desc')
      .execute();
    const surplus = all.slice(kept).map(({ secret_hash }) => secret_hash);
    if (surplus.length === 0) return;
    await this.db.deleteFrom('api_key_secrets').where('secret_hash', 'in', surplus).execute();
  }

  async #addSecret(keyId: string, secretHash: string): Promise<void> {
    const row = apiKeySecrets.write({ secretHash, keyId, endsAt: undefined });
    await this.db.insertInto('api_key_secrets').values(row).execute();
  }

  async #endSecrets(keyId: string, end: Date): Promise<void> {
    await this.db
      .updateTable('api_key_secrets')
      .set({ ends_at: toMillis(end) })
      .where('key_id', '=', keyId)
      .where((secret) =>
        secret.or([secret('ends_at', 'is', null), secret('ends_at', '>', toMillis(end))]),
      )
      .execute();
  }
}

const dated = apiKeys.only('id', 'revokedAt', 'expiresAt');

const ofAccount = (db: Queries, accountId: string) =>
  db.selectFrom('api_keys').where('account_id', '=', accountId).orderBy('created_at').orderBy('id');

const oldestFirst = (one: KeyRow, other: KeyRow): number =>
  Number(one.created_at - other.created_at) || (one.id < other.id ? -1 : 1);

const plans = accounts.only('plan', 'perMinute', 'perDay');

const holderFrom = (row: HolderRow): KeyHolder => {
  const { plan, ...ownLimits } = plans.read(row);
  return {
    key: fromRow(row),
    plan,
    limits: { ...limitsOf(plan, ownLimitsFrom(ownLimits)) },
    secretUntil: fromMillisOrNull(row.ends_at),
  };
};

const toRow = ({ ban, ...key }: ApiKey) =>
  apiKeys.write({
    ...key,
    banSince: ban?.since,
    banUntil: ban?.until,
    banMinutes: ban?.minutes,
  } satisfies Record<keyof BanFields, unknown>);

type BanFields = { readonly [Name in keyof Ban as `ban${Capitalize<Name>}`]: Ban[Name] };

const fromRow = (row: KeyRow): ApiKey => {
  const { banSince: since, banUntil: until, banMinutes: minutes, ...key } = apiKeys.read(row);
  const ban = since && until && minutes !== undefined ? { since, until, minutes } : undefined;
  return { ...key, ban };
};

export const ownLimitsFrom = ({
  perMinute,
  perDay,
}: Readonly<Record<keyof Limits, number | undefined>>): Limits | undefined =>
  perMinute === undefined || perDay === undefined ? undefined : { perMinute, perDay };

/** Caches reads for less than a second, so that changes by other processes are seen soon. */
export class TtlCache<Row extends object> {
  readonly #rows = new LRUCache<string, Row>({ max: 10_000, ttl: 900, ttlResolution: 0 });
  #cleared = 0;

  /** Does not cache misses, because guessed keys would fill the memory. */
  async get(key: string, read: () => Promise<Row | undefined>): Promise<Row | undefined> {
    const cached = this.#rows.get(key);
    if (cached) return cached;
    const [cleared, start] = [this.#cleared, performance.now()];
    const row = await read();
    // A read that overlapped a change may be stale.
    if (row && cleared === this.#cleared) this.#rows.set(key, row, { start });
    return row;
  }

  clear(): void {
    this.#cleared += 1;
    this.#rows.clear();
  }
}
