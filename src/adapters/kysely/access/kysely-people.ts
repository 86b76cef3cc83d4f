import type { Selectable } from 'kysely';
import {
  personNotFound,
  personTaken,
  sessionNotFound,
} from '../../../access/domain/access-error.ts';
import type { AccessEvent } from '../../../access/domain/access-event.ts';
import { mostOfAddress, mostPeople, type Person } from '../../../access/domain/person.ts';
import type { People } from '../../../access/people-ports.ts';
import type { Decision } from '../../../kernel/decision.ts';
import type { Database, Queries, Schema } from '../database.ts';
import { forgetMailsOf } from '../notifications/kysely-mails.ts';
import { AggregateStore } from '../store.ts';
import { refusedAs } from '../engine/failure.ts';
import { people, sessions } from './tables.ts';

const persons = people.without('noticesSeen');
type PersonRow = Omit<Selectable<Schema['people']>, 'notices_seen'>;

export class KyselyPeople extends AggregateStore implements People {
  async add(
    decision: Decision<Person, AccessEvent>,
    admit?: (people: readonly Person[]) => void,
  ): Promise<void> {
    const { state } = decision;
    const lock = async () => {
      await this.lockAccount(state.accountId);
      return this.list(state.accountId);
    };
    await this.changing(
      lock,
      (all) => {
        admit?.(all);
        return decision;
      },
      (_decision, db) =>
        refusedAs(db.insertInto('people').values(persons.write(state)).execute(), {
          duplicate: () => personTaken(state.email),
        }),
    );
  }

  async list(accountId: string): Promise<readonly Person[]> {
    const rows = await ofAccount(this.db, accountId).limit(mostPeople).execute();
    return rows.map(personFrom);
  }

  async find(id: string): Promise<Person | undefined> {
    const row = await this.db
      .selectFrom('people')
      .selectAll()
      .where('id', '=', id)
      .executeTakeFirst();
    return row && personFrom(row);
  }

  async listByEmail(email: string): Promise<readonly Person[]> {
    const rows = await this.db
      .selectFrom('people')
      .innerJoin('accounts', 'accounts.id', 'people.account_id')
      .selectAll('people')
      .where('people.email', '=', email)
      .orderBy(({ eb }) => eb('accounts.deleted_at', 'is not', null))
      .orderBy(({ eb }) => eb('proven_at', 'is', null))
      .orderBy('people.created_at')
      .orderBy('people.id')
      .limit(mostOfAddress)
      .execute();
    return rows.map(personFrom);
  }

  async changePassword(
    id: string,
    sessionId: string,
    decide: (person: Person) => Decision<Person, AccessEvent>,
  ): Promise<void> {
    const lock = async (db: Queries) => {
      const person = await lockPerson(this.database, id);
      if (!person) throw personNotFound(id);
      await requireSession(db, id, sessionId);
      return person;
    };
    await this.changing(lock, decide, async ({ state }, db) => {
      await savePerson(db, state);
      await endAll(db, id, sessionId);
      const used = sessions.write({ resetsPassword: false });
      await db.updateTable('sessions').set(used).where('id', '=', sessionId).execute();
    });
  }

  async change(
    accountId: string,
    decide: (people: readonly Person[]) => Decision<Person, AccessEvent>,
  ): Promise<Person> {
    const lock = (db: Queries) => this.#lockAll(db, accountId);
    const { state } = await this.changing(lock, decide, ({ state: person }, db) =>
      savePerson(db, person),
    );
    return state;
  }

  async #lockAll(db: Queries, accountId: string): Promise<readonly Person[]> {
    const rows = await ofAccount(db, accountId).$call(this.database.engine.locked).execute();
    return rows.map(personFrom);
  }

  /** Makes a simultaneous sign-in wait for the lock; it is then refused. */
  async remove(
    accountId: string,
    id: string,
    decide: (people: readonly Person[]) => readonly AccessEvent[],
  ): Promise<void> {
    await this.changing(
      (db) => this.#lockAll(db, accountId),
      (all) => ({ events: decide(all) }),
      async (_decision, db, all) => {
        if (!all.some((one) => one.id === id)) throw personNotFound(id);
        await endAll(db, id);
        await forgetMailsOf(db, id);
        await db.deleteFrom('second_factors').where('person_id', '=', id).execute();
        await db.deleteFrom('people').where('id', '=', id).execute();
      },
    );
  }
}

export const personFrom = (row: PersonRow): Person => persons.read(row);

/** Prevents others from changing, removing or signing in the person until the transaction ends. */
export const lockPerson = async (database: Database, id: string): Promise<Person | undefined> => {
  const row = await database.lock('people', id);
  return row && personFrom(row);
};

/** Selects the oldest person first, so that all transactions lock people in the same order. */
const ofAccount = (db: Queries, accountId: string) =>
  db
    .selectFrom('people')
    .selectAll()
    .where('account_id', '=', accountId)
    .orderBy('created_at')
    .orderBy('id');

export const savePerson = async (db: Queries, person: Person): Promise<void> => {
  const row = persons.write(person);
  await db.updateTable('people').set(row).where('id', '=', person.id).execute();
};

/** @throws DomainError `session_not_found` */
const requireSession = async (db: Queries, personId: string, id: string): Promise<void> => {
  const session = await db
    .selectFrom('sessions')
    .select('id')
    .where('id', '=', id)
    .where('person_id', '=', personId)
    .executeTakeFirst();
  if (!session) throw sessionNotFound();
};

export const endAll = async (db: Queries, personId: string, keptId?: string): Promise<void> => {
  const sessions = db.deleteFrom('sessions').where('person_id', '=', personId);
  await (keptId === undefined ? sessions : sessions.where('id', '!=', keptId)).execute();
  await endLinks(db, personId);
};

export const endLinks = async (db: Queries, personId: string): Promise<void> => {
  await db.deleteFrom('sign_in_links').where('person_id', '=', personId).execute();
};
