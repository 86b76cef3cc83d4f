import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import * as foundation from '../../../db/migrations/0001-foundation.ts';
import * as notifications from '../../../db/migrations/0002-notifications.ts';
import type { Database } from '../../../src/adapters/kysely/database.ts';
import {
  knownMigrations,
  migrateUp,
  migrationStates,
} from '../../../src/adapters/kysely/migrations.ts';
import { storedName } from '../../../src/adapters/kysely/table.ts';
import * as tables from '../../../src/adapters/kysely/tables.ts';
import {
  databaseKinds,
  emptyDatabase,
  openDatabase,
  type TestDatabase,
} from '../../support/servers/databases.ts';

const main = resolve(import.meta.dirname, '../../../src/main.ts');

let home: TestDatabase;
let database: Database;
const onEach = (kind: 'sqlite' | 'mysql'): void => {
  beforeEach(async () => {
    home = await emptyDatabase(kind);
    database = openDatabase(home.url);
  });
  afterEach(async () => {
    await database.close();
    await home.drop();
  });
};

/** In a separate process, as an operator or a starting service does it. @returns what it applied */
const migrateInProcess = async (): Promise<readonly string[]> => {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [main, 'migrate', 'up', '--json'],
    { env: { ...process.env, DATABASE_URL: home.url } },
  );
  return (JSON.parse(stdout) as { applied: string[] }).applied;
};

/** As version 1.0.0 left it, with a person. */
const migrateToFirst = async (): Promise<void> => {
  const { root } = database;
  await foundation.up(root as never);
  await root.schema
    .createTable('kysely_migration')
    .addColumn('name', 'varchar(255)', (column) => column.primaryKey())
    .addColumn('timestamp', 'varchar(255)')
    .execute();
  const first = { name: '0001-foundation', timestamp: '2026-11-22T00:00:00.000Z' };
  await root
    .insertInto('kysely_migration' as never)
    .values(first)
    .execute();
  const [email, plan] = ['ada@birds.test', 'pro'];
  await root
    .insertInto('accounts')
    .values({ id: 'acc_1', name: 'Birds', email, plan, created_at: 1n })
    .execute();
  await root
    .insertInto('people')
    .values({ id: 'per_1', account_id: 'acc_1', email, created_at: 1n })
    .execute();
};

/** Tables with their columns: of what type each is, and whether it may be null. */
type Tables = Readonly<Record<string, Readonly<Record<string, string>>>>;

const column = (type: string, isNullable: boolean): string =>
  isNullable ? `${type}, or null` : type;

const declaredTables: Tables = Object.fromEntries(
  Object.entries(tables).map(([table, { columns }]) => [
    storedName(table),
    Object.fromEntries(
      Object.entries<{ type: string; isNullable: boolean }>(columns).map(
        ([field, { type, isNullable }]) => [storedName(field), column(type, isNullable)],
      ),
    ),
  ]),
);

const words: Readonly<Record<string, string>> = {
  ...{ integer: 'integer', bigint: 'integer' },
  ...{ text: 'text', varchar: 'text', longtext: 'text' },
};

const storedTables = async (): Promise<Tables> => {
  const tables = await database.root.introspection.getTables();
  return Object.fromEntries(
    tables.map((table) => [
      table.name,
      Object.fromEntries(
        table.columns.map(({ name, dataType, isNullable }) => [
          name,
          column(words[dataType.toLowerCase()] ?? dataType, isNullable),
        ]),
      ),
    ]),
  );
};

test('migrations are numbered one after the other, so that each has its place', async () => {
  const numbers = (await knownMigrations()).map((name) => name.slice(0, 5));
  expect(numbers).toEqual(numbers.map((_, at) => `${String(at + 1).padStart(4, '0')}-`));
});

describe.each(databaseKinds)('migrations on %s', (kind) => {
  onEach(kind);

  test('bring an empty database up to date once, however many processes start at the same time', async () => {
    const applied = await Promise.all([1, 2, 3].map(migrateInProcess));
    const states = await migrationStates(database);
    expect(applied.flat()).toEqual(states.map((state) => state.name));
    expect(states.every((state) => state.executedAt instanceof Date)).toBe(true);
  });

  test('make the tables and columns that the program declares, and no others', async () => {
    await migrateUp(database);
    expect(await storedTables()).toEqual(declaredTables);
  });

  test('add to a database of version 1.0.0, and keep what it holds', async () => {
    await migrateToFirst();
    expect(await migrateUp(database)).not.toContain('0001-foundation');
    expect(await storedTables()).toEqual(declaredTables);
    expect(await database.root.selectFrom('people').selectAll().execute()).toMatchObject([
      { id: 'per_1', email: 'ada@birds.test', notices_seen: null },
    ]);
  });

  test('refuse a database that a newer version has migrated further', async () => {
    await migrateUp(database);
    const executedAt = new Date('2026-01-01');
    const newer = ['9999-newest', '9998-newer'];
    await database.root
      .insertInto('kysely_migration' as never)
      .values(newer.map((name) => ({ name, timestamp: executedAt.toISOString() })))
      .execute();
    const before = await storedTables();
    await expect(migrateUp(database)).rejects.toThrow(
      'A newer release has brought the database up to date: this one does not know 9998-newer. Install that release',
    );
    expect(await storedTables()).toEqual(before);
    expect((await migrationStates(database)).slice(-2)).toEqual([
      { name: '9998-newer', executedAt, isKnown: false },
      { name: '9999-newest', executedAt, isKnown: false },
    ]);
  });
});

describe('on mysql, where an interrupted migration starts over,', () => {
  onEach('mysql');

  test('data that it had stored is kept', async () => {
    await foundation.up(database.root as never);
    await database.root.updateTable('edge_revision').set({ revision: 7n }).execute();
    await database.root.updateTable('authority_turn').set({ turn: 8n }).execute();
    expect(await migrateUp(database)).toContain('0001-foundation');
    const { root } = database;
    expect(await root.selectFrom('edge_revision').selectAll().execute()).toEqual([
      { id: 1n, revision: 7n, public_port: null },
    ]);
    expect(await root.selectFrom('authority_turn').selectAll().execute()).toEqual([
      { id: 1n, turn: 8n },
    ]);
  });

  test('a step that was done before is not done again', async () => {
    await foundation.up(database.root as never);
    await notifications.up(database.root as never);
    expect(await migrateUp(database)).toContain('0002-notifications');
    expect(await storedTables()).toEqual(declaredTables);
  });
});
