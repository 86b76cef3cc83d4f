import { accountNotFound, apiKeyNotFound } from '../../access/domain/access-error.ts';
import type { AccessEvent } from '../../access/domain/access-event.ts';
import { scopes, type ApiKey } from '../../access/domain/api-key.ts';
import { plans } from '../../access/domain/plan.ts';
import { ApiKeys, type KeyHolder, type KeyToStore } from '../../access/ports.ts';
import type { Decision } from '../../kernel/decision.ts';
import type { Selectable } from 'kysely';
import type { Database } from './database.ts';
import { failureOf } from './dialect.ts';
import type { KyselyOutbox } from './kysely-outbox.ts';
import { ShortMemory } from './short-memory.ts';
import { fromMillis, oneOf, toMillis, type Schema } from './schema.ts';

type KeyRow = Omit<Selectable<Schema['api_keys']>, 'secret_hash'>;
type HolderRow = KeyRow & { plan: string };

const columns = [
  'api_keys.id',
  'api_keys.account_id',
  'api_keys.name',
  'api_keys.hint',
  'api_keys.scopes',
  'api_keys.created_at',
  'api_keys.expires_at',
  'api_keys.revoked_at',
] as const;

export class KyselyApiKeys extends ApiKeys {
  readonly #database: Database;
  readonly #outbox: KyselyOutbox;
  readonly #findBySecretHash;
  readonly #holders = new ShortMemory<HolderRow>();

  constructor(database: Database, outbox: KyselyOutbox) {
    super();
    this.#database = database;
    this.#outbox = outbox;
    this.#findBySecretHash = database.prepare<{ secretHash: string }, HolderRow>((db, the) =>
      db
        .selectFrom('api_keys')
        .select(columns)
        // No join: SQLite plans a join anew each time its parameter is bound, which triples the cost.
        .select(({ selectFrom }) =>
          selectFrom('accounts')
            .select('plan')
            .whereRef('accounts.id', '=', 'api_keys.account_id')
            .$asScalar()
            .$notNull()
            .as('plan'),
        )
        .where('secret_hash', '=', the('secretHash')),
    );
  }

  async add({ state, events }: Decision<KeyToStore, AccessEvent>): Promise<void> {
    const { key, secretHash } = state;
    await this.#database.transaction(async (db) => {
      try {
        await db
          .insertInto('api_keys')
          .values({ ...toRow(key), secret_hash: secretHash })
          .execute();
      } catch (error) {
        throw failureOf(error) === 'missing_parent' ? accountNotFound(key.accountId) : error;
      }
      await this.#outbox.append(events);
    });
  }

  async findBySecretHash(secretHash: string): Promise<KeyHolder | undefined> {
    const row = await this.#holders.get(secretHash, async () => {
      const [found] = await this.#findBySecretHash({ secretHash });
      return found;
    });
    return row && { key: fromRow(row), plan: oneOf(plans, row.plan) };
  }

  async list(accountId: string): Promise<readonly ApiKey[]> {
    const rows = await this.#database.run((db) =>
      db
        .selectFrom('api_keys')
        .select(columns)
        .where('account_id', '=', accountId)
        .orderBy('created_at')
        .orderBy('id')
        .execute(),
    );
    return rows.map(fromRow);
  }

  async change(
    id: string,
    decide: (key: ApiKey) => Decision<ApiKey, AccessEvent>,
  ): Promise<ApiKey> {
    const changed = await this.#database.transaction(async (db) => {
      const row = await db
        .selectFrom('api_keys')
        .select(columns)
        .where('id', '=', id)
        .$if(this.#database.kind === 'mysql', (query) => query.forUpdate())
        .executeTakeFirst();
      if (!row) throw apiKeyNotFound(id);
      const { state, events } = decide(fromRow(row));
      await db.updateTable('api_keys').set(toRow(state)).where('id', '=', id).execute();
      await this.#outbox.append(events);
      return state;
    });
    this.forget();
    return changed;
  }

  /** For the other adapters of this folder: a key or its account changed, here and now. */
  forget(): void {
    this.#holders.forget();
  }
}

const toRow = (key: ApiKey): KeyRow => ({
  id: key.id,
  account_id: key.accountId,
  name: key.name,
  hint: key.hint,
  scopes: key.scopes.join(' '),
  created_at: toMillis(key.createdAt),
  expires_at: key.expiresAt ? toMillis(key.expiresAt) : null,
  revoked_at: key.revokedAt ? toMillis(key.revokedAt) : null,
});

const fromRow = (row: KeyRow): ApiKey => ({
  id: row.id,
  accountId: row.account_id,
  name: row.name,
  hint: row.hint,
  scopes: row.scopes.split(' ').map((scope) => oneOf(scopes, scope)),
  createdAt: fromMillis(row.created_at),
  expiresAt: row.expires_at === null ? undefined : fromMillis(row.expires_at),
  revokedAt: row.revoked_at === null ? undefined : fromMillis(row.revoked_at),
});
