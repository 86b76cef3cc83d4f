import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import * as peopleAndSessions from '../../../db/migrations/0004-people-and-sessions.ts';
import type { Database } from '../../../src/adapters/kysely/database.ts';
import { KyselyAuditLog } from '../../../src/adapters/kysely/access/kysely-audit-log.ts';
import { KyselyPeople } from '../../../src/adapters/kysely/access/kysely-people.ts';
import {
  databaseKinds,
  emptyDatabase,
  openDatabase,
  type TestDatabase,
} from '../../support/servers/databases.ts';
import { account, foundIn, migrate, namesFrom, outboxOf } from '../../support/earlier-release.ts';

/** As a release without people does it. */
const addAccount = async ({ root }: Database, name: string): Promise<void> => {
  const row = { ...account, id: `acct_${name}`, email: `${name}@shop.example`, created_at: 7n };
  await root.insertInto('accounts').values(row).execute();
};

const personOf = (name: string) => {
  const [id, email] = [`pers_${name}`, `${name}@shop.example`];
  const [accountId, createdAt] = [`acct_${name}`, new Date(7)];
  const [passwordHash, joinedAt] = [undefined, undefined];
  return { id, accountId, email, passwordHash, createdAt, joinedAt };
};

/** As a release without actors does it. */
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

  test('names the service as the actor of its events, old ones and those while it still serves', async () => {
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

describe.each(databaseKinds)('a database in which one address has one account, on %s,', (kind) => {
  let home: TestDatabase;
  let database: Database;
  beforeEach(async () => {
    home = await emptyDatabase(kind);
    database = openDatabase(home.url);
    await foundIn(database, 6);
  });
  afterEach(async () => {
    await database.close();
    await home.drop();
  });

  const row = (name: string, hash: string | null = null) => ({
    ...{ id: `pers_${name}`, account_id: `acct_${name}`, email: `${name}@shop.example` },
    ...{ password_hash: hash, created_at: 7n },
  });
  const signedInBefore = async (name: string): Promise<void> => {
    const event = { event_id: `evt_${name}`, account_id: `acct_${name}`, what: 'person_signed_in' };
    const details = JSON.stringify({ personId: `pers_${name}`, way: 'link' });
    await database.root
      .insertInto('audit_log')
      .values({ ...event, details, occurred_at: 8n })
      .execute();
  };

  test('keeps all of its people, sessions and links, and knows who has signed in', async () => {
    const { root } = database;
    const names = ['chosen', 'open', 'told', 'never'];
    for (const name of names) {
      await addAccount(database, name);
      const its = row(name, name === 'chosen' ? 'hash' : null);
      await root.insertInto('people').values(its).execute();
    }
    const session = { id: 'sess_1', person_id: 'pers_open', secret_hash: 'x', way: 'link' };
    const times = { browser: '', started_at: 7n, ends_at: 9n };
    await root
      .insertInto('sessions')
      .values({ ...session, ...times })
      .execute();
    const link = { secret_hash: 'y', person_id: 'pers_never', ends_at: 9n };
    await root.insertInto('sign_in_links').values(link).execute();
    await signedInBefore('told');
    await migrate(home.url);
    const joined = { joinedAt: new Date(7) };
    expect(await peopleIn(database)).toEqual([
      { ...personOf('chosen'), passwordHash: 'hash', ...joined },
      personOf('never'),
      { ...personOf('open'), ...joined },
      { ...personOf('told'), ...joined },
    ]);
    expect(await root.selectFrom('sessions').select(['id', 'others']).execute()).toEqual([
      { id: 'sess_1', others: null },
    ]);
    expect(await root.selectFrom('sign_in_links').selectAll().execute()).toEqual([link]);
    expect(await root.selectFrom('accounts').select('id').orderBy('id').execute()).toEqual(
      [...names].sort().map((name) => ({ id: `acct_${name}` })),
    );
  });

  test('then allows one address in several accounts, once in each, and still checks foreign keys', async () => {
    await addAccount(database, 'birds');
    await migrate(home.url);
    const { root } = database;
    const twin = { ...account, id: 'acct_cats', email: 'birds@shop.example', created_at: 8n };
    await root.insertInto('accounts').values(twin).execute();
    const people = new KyselyPeople(database, outboxOf(database));
    const cats = { ...personOf('birds'), id: 'pers_cats', accountId: 'acct_cats' };
    await people.add({ state: cats, events: [] });
    const again = people.add({ state: { ...cats, id: 'pers_again' }, events: [] });
    await expect(again).rejects.toHaveProperty('code', 'person_taken');
    const lost = people.add({ state: { ...cats, id: 'p', accountId: 'acct_none' }, events: [] });
    await expect(lost).rejects.toHaveProperty('code', 'account_not_found');
  });
});

describe('on mysql, where an interrupted migration starts over,', () => {
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
    const joined = { ...heir, joinedAt: heir.createdAt };
    expect(await peopleIn(database)).toEqual([joined, personOf('cats')]);
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
