import type { Selectable } from 'kysely';
import { accountNotFound } from '../../../access/domain/access-error.ts';
import type { AccessEvent } from '../../../access/domain/access-event.ts';
import type { Account } from '../../../access/domain/account.ts';
import type { Person } from '../../../access/domain/person.ts';
import type { Accounts, KeyToStore } from '../../../access/ports.ts';
import type { Decision } from '../../../kernel/decision.ts';
import { AggregateStore } from '../store.ts';
import type { Database } from '../database.ts';
import type { KyselyOutbox } from '../kysely-outbox.ts';
import type { Schema } from '../schema.ts';
import { accounts } from './tables.ts';
import { ownLimitsFrom, type KyselyApiKeys } from './kysely-api-keys.ts';
import type { KyselyPeople } from './kysely-people.ts';

type AccountRow = Selectable<Schema['accounts']>;

export class KyselyAccounts extends AggregateStore implements Accounts {
  readonly #apiKeys: KyselyApiKeys;
  readonly #people: KyselyPeople;

  constructor(
    database: Database,
    outbox: KyselyOutbox,
    { apiKeys, people }: { readonly apiKeys: KyselyApiKeys; readonly people: KyselyPeople },
  ) {
    super(database, outbox);
    this.#apiKeys = apiKeys;
    this.#people = people;
  }

  async open(
    account: Decision<Account, AccessEvent>,
    firstKey: Decision<KeyToStore, AccessEvent>,
    firstPerson: Decision<Person, AccessEvent>,
  ): Promise<void> {
    await this.database.transaction(async () => {
      await this.store(async (db) => {
        await db.insertInto('accounts').values(toRow(account.state)).execute();
        return account;
      });
      await this.#apiKeys.add(firstKey);
      await this.#people.add(firstPerson);
    });
  }

  async list(): Promise<readonly Account[]> {
    const rows = await this.db
      .selectFrom('accounts')
      .selectAll()
      .orderBy('created_at')
      .orderBy('id')
      .execute();
    return rows.map(accountFrom);
  }

  async find(id: string): Promise<Account | undefined> {
    const row = await this.db
      .selectFrom('accounts')
      .selectAll()
      .where('id', '=', id)
      .executeTakeFirst();
    return row && accountFrom(row);
  }

  async change(
    id: string,
    decide: (account: Account) => Decision<Account, AccessEvent>,
  ): Promise<Account> {
    const { state } = await this.changing(
      () => this.#lock(id),
      decide,
      ({ state }, db) =>
        db.updateTable('accounts').set(toRow(state)).where('id', '=', id).execute(),
    );
    this.#apiKeys.forget();
    return state;
  }

  async #lock(id: string): Promise<Account> {
    const row = await this.database.lock('accounts', id);
    if (!row) throw accountNotFound(id);
    return accountFrom(row);
  }
}

const toRow = ({ ownLimits, siteLimits, ...account }: Account) =>
  accounts.write({
    ...account,
    ...siteLimits,
    perMinute: ownLimits?.perMinute,
    perDay: ownLimits?.perDay,
  });

export const accountFrom = (row: AccountRow): Account => {
  const { perMinute, perDay, projects, domains, storageGib, ...account } = accounts.read(row);
  const siteLimits = { projects, domains, storageGib };
  return { ...account, ownLimits: ownLimitsFrom({ perMinute, perDay }), siteLimits };
};
