import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import * as peopleAndSessions from '../../db/migrations/0004-people-and-sessions.ts';
import type { Database } from '../../src/adapters/kysely/database.ts';
import { KyselyAuditLog } from '../../src/adapters/kysely/kysely-audit-log.ts';
import { KyselyPeople } from '../../src/adapters/kysely/kysely-people.ts';
import {
  databaseKinds,
  emptyDatabase,
  openDatabase,
  type TestDatabase,
} from '../support/databases.ts';
import { account, foundIn, migrate, namesFrom, outboxOf } from '../support/earlier-release.ts';

/** As a release without people does it. */
const addAccount = async ({ root }: Database, name: string): Promise<void> => {
  const row = { ...account, id: `acct_${name}`, email: `${name}@shop.example`, created_at: 7n };
  await root.insertInto('accounts').values(row).execute();
};

const personOf = (name: string) => {
  const [id, email] = [`pers_${name}`, `${name}@shop.example`];
  const [accountId, createdAt] = [`acct_${name}`, new Date(7)];
  return { id, accountId, email, passwordHash: undefined, createdAt };
};

/** As a release does it that knows no actors. */
const addEvent = async ({ root }: Database, id: string): Promise<void> => {
  const event = { account_id: account.id, details: '{}', occurred_at: 0n };
  await root
    .insertInto('events')
    .values({ id, type: 'pet_added', ...event })
    .execute();
  const delivery = { event_id: id, subscriber: 'audit', attempts: 0n, due_at: 0n };
  await root.insertInto('deliveries').values(delivery).execute();
  await root
    .insertInto('audit_log')
    .values({ event_id: id, what: 'pet_added', ...event })
    .execute();
};

const peopleIn = async (database: Database): Promise<readonly unknown[]> => {
  const people = new KyselyPeople(database, outboxOf(database));
  const rows = await database.root.selectFrom('people').select('id').orderBy('id').execute();
  return Promise.all(rows.map(({ id }) => people.find(id)));
};

describe.each(databaseKinds)('a database of a release without people, on %s,', (kind) => {
  let home: TestDatabase;
  let database: Database;
  beforeEach(async () => {
    home = await emptyDatabase(kind);
    database = openDatabase(home.url);
    await foundIn(database, 3);
  });
  afterEach(async () => {
    await database.close();
    await home.drop();
  });

  test('lets the owner of each account sign in', async () => {
    for (const name of ['birds', 'zoë']) await addAccount(database, name);
    expect(await migrate(home.url)).toEqual(namesFrom(3));
    expect(await peopleIn(database)).toEqual([personOf('birds'), personOf('zoë')]);
  });

  test('takes new accounts from it while it still serves, whose people are invited later', async () => {
    await addAccount(database, 'birds');
    await migrate(home.url);
    await addAccount(database, 'cats');
    expect(await peopleIn(database)).toEqual([personOf('birds')]);
    const people = new KyselyPeople(database, outboxOf(database));
    await people.add({ state: personOf('cats'), events: [] });
    expect(await peopleIn(database)).toEqual([personOf('birds'), personOf('cats')]);
  });

  test('holds the service for who did what it tells of, then and while it still serves', async () => {
    await addEvent(database, 'evt_1');
    await migrate(home.url);
    await addEvent(database, 'evt_2');
    const [now, later] = [new Date(1), new Date(2)];
    const deliveries = await outboxOf(database).claim(now, later, 10);
    expect(deliveries.map(({ stored }) => [stored.id, stored.actor])).toEqual([
      ['evt_1', 'service'],
      ['evt_2', 'service'],
    ]);
    const entries = await new KyselyAuditLog(database).list(account.id, 10);
    expect(entries.map(({ id, actor }) => [id, actor])).toEqual([
      ['evt_2', 'service'],
      ['evt_1', 'service'],
    ]);
  });
});

describe('on mysql, where a migration that was cut off begins anew,', () => {
  let home: TestDatabase;
  let database: Database;
  beforeEach(async () => {
    home = await emptyDatabase('mysql');
    database = openDatabase(home.url);
    await foundIn(database, 3);
  });
  afterEach(async () => {
    await database.close();
    await home.drop();
  });

  test('each owner becomes one person, and stays as it is', async () => {
    await addAccount(database, 'birds');
    await peopleAndSessions.up(database.root as never);
    await addAccount(database, 'cats');
    const left = { email: 'heir@shop.example', password_hash: 'hash' };
    await database.root.updateTable('people').set(left).execute();
    expect(await migrate(home.url)).toEqual(namesFrom(3));
    const heir = { ...personOf('birds'), email: left.email, passwordHash: left.password_hash };
    expect(await peopleIn(database)).toEqual([heir, personOf('cats')]);
  });

  test('an owner whose address signs in to another account already is left out', async () => {
    await addAccount(database, 'birds');
    await peopleAndSessions.up(database.root as never);
    await database.root.updateTable('people').set({ email: 'cats@shop.example' }).execute();
    await addAccount(database, 'cats');
    await migrate(home.url);
    expect(await peopleIn(database)).toEqual([
      { ...personOf('birds'), email: 'cats@shop.example' },
    ]);
  });
});
