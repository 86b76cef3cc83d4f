import type { Selectable } from 'kysely';
import { accountNotFound, apiKeyNotFound } from '../../../access/domain/access-error.ts';
import type { AccessEvent } from '../../../access/domain/access-event.ts';
import { keyLimits, scopes, type ApiKey, type Rotation } from '../../../access/domain/api-key.ts';
import type { Ban } from '../../../access/domain/ban.ts';
import { limitsOf, plans } from '../../../access/domain/plan.ts';
import type { ApiKeys, KeyHolder, KeyToStore, ListedKey } from '../../../access/key-ports.ts';
import type { Decision } from '../../../kernel/decision.ts';
import type { EveryField } from '../../../kernel/every-field.ts';
import { lockedRow } from '../locked-row.ts';
import { TellingStore } from '../telling-store.ts';
import { refusedAs } from '../engine/failure.ts';
import {
  fromMillis,
  fromMillisOrNull,
  oneOf,
  ownLimitsFrom,
  toMillis,
  toMillisOrNull,
  type RowOf,
  type Schema,
} from '../schema.ts';
import { ShortMemory } from '../short-memory.ts';

type KeyRow = Selectable<Schema['api_keys']>;
type HolderRow = KeyRow &
  Pick<Selectable<Schema['accounts']>, 'plan' | 'per_minute' | 'per_day'> &
  Pick<Selectable<Schema['api_key_secrets']>, 'ends_at'>;

export class KyselyApiKeys extends TellingStore implements ApiKeys {
  readonly #findBySecretHash = this.database.prepare<{ secretHash: string }, HolderRow>((db, the) =>
    db
      .selectFrom('api_key_secrets')
      .innerJoin('api_keys', 'api_keys.id', 'api_key_secrets.key_id')
      .innerJoin('accounts', 'accounts.id', 'api_keys.account_id')
      .selectAll('api_keys')
      .select(['accounts.plan', 'accounts.per_minute', 'accounts.per_day', 'ends_at'])
      .where('secret_hash', '=', the('secretHash')),
  );

  /** Rows, because callers may change what they were given. */
  readonly #holders = new ShortMemory<HolderRow>();

  async add(
    { state, events }: Decision<KeyToStore, AccessEvent>,
    admit: (inUse: number) => void = () => undefined,
  ): Promise<void> {
    const { key, secretHash } = state;
    await this.database.transaction(async (db) => {
      // Serialises the adds of one account.
      await lockedRow(this.database, 'accounts', key.accountId);
      admit(await this.#makeRoom(key));
      await refusedAs(db.insertInto('api_keys').values(toRow(key)).execute(), {
        missing_parent: () => accountNotFound(key.accountId),
      });
      await this.#addSecret(key.id, secretHash);
      await this.outbox.append(events);
    });
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
      // An account that had more before there was a limit must see all that it can revoke, in turn.
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

  change(id: string, decide: (key: ApiKey) => Decision<ApiKey, AccessEvent>): Promise<ApiKey> {
    return this.#change(id, (key) => Promise.resolve(decide(key)));
  }

  rotate(
    id: string,
    secretHash: string,
    decide: (key: ApiKey) => Decision<Rotation, AccessEvent>,
  ): Promise<ApiKey> {
    return this.#change(id, async (current) => {
      const { state, events } = decide(current);
      await this.#endSecrets(id, state.oldSecretsUntil);
      await this.#forgetSecrets(id, keyLimits.secrets - 1);
      await this.#addSecret(id, secretHash);
      return { state: state.key, events };
    });
  }

  /** For the other adapters of this folder: call it when this process changed a key or its account. */
  forget(): void {
    this.#holders.forget();
  }

  /** @param decide also saves what is not in the row of the key */
  async #change(
    id: string,
    decide: (key: ApiKey) => Promise<Decision<ApiKey, AccessEvent>>,
  ): Promise<ApiKey> {
    const changed = await this.database.transaction(async (db) => {
      const row = await lockedRow(this.database, 'api_keys', id);
      if (!row) throw apiKeyNotFound(id);
      const { state, events } = await decide(fromRow(row));
      await db.updateTable('api_keys').set(toRow(state)).where('id', '=', id).execute();
      await this.outbox.append(events);
      return state;
    });
    this.forget();
    return changed;
  }

  /** For one more key: of those that no longer work, the oldest go. @returns how many work */
  async #makeRoom({ accountId, createdAt: now }: ApiKey): Promise<number> {
    const all = await this.db
      .selectFrom('api_keys')
      .select(['id', 'revoked_at', 'expires_at'])
      .where('account_id', '=', accountId)
      .orderBy('created_at')
      .orderBy('id')
      .execute();
    const idle = all.filter(({ revoked_at, expires_at }) => {
      return revoked_at !== null || (expires_at !== null && expires_at <= toMillis(now));
    });
    const surplus = idle.slice(0, Math.max(0, all.length + 1 - keyLimits.kept));
    if (surplus.length > 0) await this.#forgetKeys(surplus.map(({ id }) => id));
    return all.length - idle.length;
  }

  async #forgetKeys(ids: readonly string[]): Promise<void> {
    await this.db.deleteFrom('api_key_secrets').where('key_id', 'in', ids).execute();
    await this.db.deleteFrom('api_keys').where('id', 'in', ids).execute();
  }

  /** But for those that end last. */
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
    const row = { secret_hash: secretHash, key_id: keyId, ends_at: null };
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

const oldestFirst = (one: KeyRow, other: KeyRow): number =>
  Number(one.created_at - other.created_at) || (one.id < other.id ? -1 : 1);

const holderFrom = (row: HolderRow): KeyHolder => {
  const plan = oneOf(plans, row.plan);
  return {
    key: fromRow(row),
    plan,
    limits: { ...limitsOf(plan, ownLimitsFrom(row.per_minute, row.per_day)) },
    secretUntil: fromMillisOrNull(row.ends_at),
  };
};

const toRow = (key: ApiKey) =>
  ({
    id: key.id,
    account_id: key.accountId,
    name: key.name,
    hint: key.hint,
    scopes: key.scopes.join(' '),
    created_at: toMillis(key.createdAt),
    expires_at: toMillisOrNull(key.expiresAt),
    revoked_at: toMillisOrNull(key.revokedAt),
    last_used_at: toMillisOrNull(key.lastUsedAt),
    ...banRow(key.ban),
  }) satisfies RowOf<Omit<ApiKey, 'ban'>>;

const fromRow = (row: KeyRow): ApiKey =>
  ({
    id: row.id,
    accountId: row.account_id,
    name: row.name,
    hint: row.hint,
    scopes: row.scopes.split(' ').map((scope) => oneOf(scopes, scope)),
    createdAt: fromMillis(row.created_at),
    expiresAt: fromMillisOrNull(row.expires_at),
    revokedAt: fromMillisOrNull(row.revoked_at),
    lastUsedAt: fromMillisOrNull(row.last_used_at),
    ban: banFrom(row),
  }) satisfies EveryField<ApiKey>;

type BanFields = {
  readonly [Name in keyof Ban as `ban${Capitalize<Name>}`]: Ban[Name] | undefined;
};

const banRow = (ban: Ban | undefined) =>
  ({
    ban_since: toMillisOrNull(ban?.since),
    ban_until: toMillisOrNull(ban?.until),
    ban_minutes: ban ? BigInt(ban.minutes) : null,
  }) satisfies RowOf<BanFields>;

const banFrom = ({ ban_since, ban_until, ban_minutes }: KeyRow): Ban | undefined =>
  ban_since === null || ban_until === null || ban_minutes === null
    ? undefined
    : ({
        since: fromMillis(ban_since),
        until: fromMillis(ban_until),
        minutes: Number(ban_minutes),
      } satisfies EveryField<Ban>);
