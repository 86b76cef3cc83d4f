import { accountNotFound } from '../../../access/domain/access-error.ts';
import type { AccessEvent } from '../../../access/domain/access-event.ts';
import type { Account, Warnings } from '../../../access/domain/account.ts';
import type { Person } from '../../../access/domain/person.ts';
import { plans } from '../../../access/domain/plan.ts';
import { highUseLevels } from '../../../access/domain/rate-quota.ts';
import type { Accounts, KeyToStore } from '../../../access/key-ports.ts';
import type { Decision } from '../../../kernel/decision.ts';
import type { Selectable } from 'kysely';
import * as v from 'valibot';
import type { EveryField } from '../../../kernel/every-field.ts';
import type { Database } from '../database.ts';
import { lockedRow } from '../locked-row.ts';
import { date, parseStored, perhaps, type Entries } from '../stored-json.ts';
import { TellingStore } from '../telling-store.ts';
import type { KyselyApiKeys } from './kysely-api-keys.ts';
import type { KyselyOutbox } from '../kysely-outbox.ts';
import type { KyselyPeople } from './kysely-people.ts';
import {
  fromMillis,
  oneOf,
  ownLimitsFrom,
  ownLimitsRow,
  toMillis,
  type RowOf,
  type Schema,
} from '../schema.ts';

export class KyselyAccounts extends TellingStore implements Accounts {
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
    { state, events }: Decision<Account, AccessEvent>,
    firstKey: Decision<KeyToStore, AccessEvent>,
    firstPerson: Decision<Person, AccessEvent>,
  ): Promise<void> {
    await this.database.transaction(async (db) => {
      await db.insertInto('accounts').values(toRow(state)).execute();
      await this.outbox.append(events);
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
    const changed = await this.database.transaction(async (db) => {
      const row = await lockedRow(this.database, 'accounts', id);
      if (!row) throw accountNotFound(id);
      const { state, events } = decide(accountFrom(row));
      await db.updateTable('accounts').set(toRow(state)).where('id', '=', id).execute();
      await this.outbox.append(events);
      return state;
    });
    this.#apiKeys.forget();
    return changed;
  }
}

const storedWarnings = v.object({
  quota: perhaps(v.object({ level: v.picklist(highUseLevels), resetsAt: date })),
  removals: v.array(v.object({ operation: v.string(), removedAt: date, step: v.number() })),
} satisfies Entries<Warnings>);

const toRow = ({ id, name, email, plan, ownLimits, createdAt, warnings }: Account) =>
  ({
    ...{ id, name, email, plan },
    ...ownLimitsRow(ownLimits),
    created_at: toMillis(createdAt),
    warnings: JSON.stringify(warnings),
  }) satisfies RowOf<Omit<Account, 'ownLimits'>>;

export const accountFrom = (row: Selectable<Schema['accounts']>): Account =>
  ({
    id: row.id,
    name: row.name,
    email: row.email,
    plan: oneOf(plans, row.plan),
    ownLimits: ownLimitsFrom(row.per_minute, row.per_day),
    createdAt: fromMillis(row.created_at),
    warnings: parseStored(storedWarnings, row.warnings),
  }) satisfies EveryField<Account>;
