import type { Selectable } from 'kysely';
import { accountNotFound } from '../../../access/domain/access-error.ts';
import type { AccessEvent } from '../../../access/domain/access-event.ts';
import type { Account } from '../../../access/domain/account.ts';
import type { Person } from '../../../access/domain/person.ts';
import type { Accounts, KeyToStore } from '../../../access/ports.ts';
import type { Decision } from '../../../kernel/decision.ts';
import { forgetRowsOf } from '../belongings.ts';
import { AggregateStore, firstEndOf } from '../store.ts';
import { type Database, type Queries, toMillis, type Schema } from '../database.ts';
import { removeRoutesOf } from '../sites/project-routes.ts';
import type { KyselyOutbox } from '../kysely-outbox.ts';
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
      async ({ state }, db, before) => {
        await db.updateTable('accounts').set(toRow(state)).where('id', '=', id).execute();
        if (!state.deletedAt || before.deletedAt) return;
        await endSessionsOf(db, id);
        await removeRoutesOf(this.database, id, state.deletedAt);
      },
    );
    this.#apiKeys.forget();
    return state;
  }

  async deletedBefore(before: Date, limit: number): Promise<readonly Account[]> {
    const rows = await this.db
      .selectFrom('accounts')
      .selectAll()
      .where('deleted_at', '<=', toMillis(before))
      .orderBy('deleted_at')
      .limit(limit)
      .execute();
    return rows.map(accountFrom);
  }

  firstEnd(): Promise<Date | undefined> {
    return firstEndOf(this.db, 'accounts');
  }

  async end(id: string, mayEnd: (account: Account) => boolean): Promise<boolean> {
    const account = await this.find(id);
    if (!account || !mayEnd(account) || (await this.#isNeeded(id))) return false;
    await forgetRowsOf(this.database, 'accounts', [id]);
    await this.db
      .updateTable('authority_ledger')
      .set({ account_id: nobody })
      .where('account_id', '=', id)
      .execute();
    await this.db.deleteFrom('accounts').where('id', '=', id).execute();
    this.#apiKeys.forget();
    return true;
  }

  /** Whether a project remains, or subscribers still need the account for events that wait. */
  async #isNeeded(id: string): Promise<boolean> {
    const project = this.db.selectFrom('projects').select('id').where('account_id', '=', id);
    if (await project.limit(1).executeTakeFirst()) return true;
    const waiting = this.db
      .selectFrom('events')
      .innerJoin('deliveries', 'deliveries.event_id', 'events.id')
      .select('deliveries.id')
      .where('events.account_id', '=', id)
      .where('deliveries.parked', '=', 0n);
    return (await waiting.limit(1).executeTakeFirst()) !== undefined;
  }

  async #lock(id: string): Promise<Account> {
    const row = await this.database.lock('accounts', id);
    if (!row) throw accountNotFound(id);
    return accountFrom(row);
  }
}

/** Replaces an ended account's id in counts for the whole service. */
const nobody = 'ended';

const endSessionsOf = async (db: Queries, accountId: string): Promise<void> => {
  const people = await db
    .selectFrom('people')
    .select('id')
    .where('account_id', '=', accountId)
    .execute();
  const ids = people.map(({ id }) => id);
  if (ids.length === 0) return;
  await db.deleteFrom('sessions').where('person_id', 'in', ids).execute();
  await db.deleteFrom('sign_in_links').where('person_id', 'in', ids).execute();
};

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
