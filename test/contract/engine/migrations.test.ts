import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { tables } from '../../../db/migrations/0001-foundation.ts';
import { text } from '../../../db/tables.ts';
import type { Database } from '../../../src/adapters/kysely/database.ts';
import {
  knownMigrations,
  migrateUp,
  migrationFiles,
  migrationStates,
  named,
} from '../../../src/adapters/kysely/migrations.ts';
import { storedName } from '../../../src/adapters/kysely/table.ts';
import * as access from '../../../src/adapters/kysely/access/tables.ts';
import * as notifications from '../../../src/adapters/kysely/notifications/tables.ts';
import * as sites from '../../../src/adapters/kysely/sites/tables.ts';
import * as others from '../../../src/adapters/kysely/tables.ts';
import {
  databaseKinds,
  emptyDatabase,
  openDatabase,
  type TestDatabase,
} from '../../support/servers/databases.ts';

const main = resolve(import.meta.dirname, '../../../src/main.ts');

let home: TestDatabase;
let database: Database;

/** Migrates in a separate process, like an operator or a starting service. @returns the applied migrations */
const migrateInProcess = async (): Promise<readonly string[]> => {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [main, 'migrate', 'up', '--json'],
    { env: { ...process.env, DATABASE_URL: home.url } },
  );
  return (JSON.parse(stdout) as { applied: string[] }).applied;
};

/** Tables with their columns: the type of each, and whether it may be null. */
type Tables = Readonly<Record<string, Readonly<Record<string, string>>>>;

const column = (type: string, isNullable: boolean): string =>
  isNullable ? `${type}, or null` : type;

const declaredTables: Tables = Object.fromEntries(
  Object.entries({ ...access, ...notifications, ...sites, ...others }).map(
    ([table, { columns }]) => [
      storedName(table),
      Object.fromEntries(
        Object.entries<{ type: string; isNullable: boolean }>(columns).map(
          ([field, { type, isNullable }]) => [storedName(field), column(type, isNullable)],
        ),
      ),
    ],
  ),
);

const words: Readonly<Record<string, string>> = {
  integer: 'integer',
  bigint: 'integer',
  text: 'text',
  varchar: 'text',
  longtext: 'text',
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

test('every migration file is registered, and their numbers have no gaps', () => {
  const files = readdirSync('db/migrations').toSorted();
  expect(Object.keys(migrationFiles).map((name) => `${name}.ts`)).toEqual(files);
  const numbers = Object.keys(knownMigrations).map((name) => name.slice(0, 5));
  expect(numbers).toEqual(numbers.map((_, at) => `${String(at + 1).padStart(4, '0')}-`));
});

const released = migrationFiles;
const idle = () => Promise.resolve();
const later = {
  up: (db: Database['root']) => db.schema.createTable('later').addColumn('id', 'bigint').execute(),
};

describe.each(databaseKinds)('migrations on %s', (kind) => {
  beforeEach(async () => {
    home = await emptyDatabase(kind);
    database = openDatabase(home.url);
  });
  afterEach(async () => {
    await database.close();
    await home.drop();
  });

  test('bring an empty database up to date exactly once, however many processes start at the same time', async () => {
    const applied = await Promise.all([1, 2, 3].map(migrateInProcess));
    const states = await migrationStates(database);
    expect(applied.flat()).toEqual(states.map((state) => state.name));
    expect(states.every((state) => state.executedAt instanceof Date)).toBe(true);
  });

  test('create exactly the tables and columns that the program declares', async () => {
    await migrateUp(database);
    expect(await storedTables()).toEqual(declaredTables);
  });

  test('extend a database of an earlier version and keep its data', async () => {
    await migrateUp(database);
    await database.root.updateTable('edge_revision').set({ revision: 7n }).execute();
    const [added, ...others] = await migrateUp(
      database,
      named({ ...released, '0002-later': later }),
    );
    expect([added, others]).toEqual([expect.stringMatching(/^0002-later-/), []]);
    expect(await storedTables()).toMatchObject({ later: { id: 'integer, or null' } });
    expect(await database.root.selectFrom('edge_revision').selectAll().execute()).toMatchObject([
      { revision: 7n },
    ]);
  });

  test('refuse a database that a newer version has migrated', async () => {
    const newer = named({ ...released, '0002-newer': later, '0003-newest': { up: idle } });
    await migrateUp(database, newer);
    const before = await storedTables();
    await expect(migrateUp(database)).rejects.toThrow(
      /^A newer release has brought the database up to date: this one does not know 0002-newer-\w{8}\. Install that/,
    );
    expect(await storedTables()).toEqual(before);
    expect((await migrationStates(database)).slice(-2)).toMatchObject([
      { name: expect.stringMatching(/^0002-newer-/), isKnown: false },
      { name: expect.stringMatching(/^0003-newest-/), isKnown: false },
    ]);
  });

  test('refuse a database of an unreleased build, even when only one column of a table differs', async () => {
    const pets = { ...tables['pets'], columns: { ...tables['pets']?.columns, status: text(17) } };
    const changed = { up: idle, tables: { ...tables, pets } };
    await migrateUp(database, named({ '0001-foundation': changed }));
    await expect(migrateUp(database)).rejects.toThrow(
      /^An unreleased build has made the database: no release has its schema, 0001-foundation-\w{8}\. Start with an empty database\.$/,
    );
    expect(await storedTables()).toEqual({});
  });
});

test('data that an interrupted migration stored on mysql is kept when the migration starts again', async () => {
  home = await emptyDatabase('mysql');
  database = openDatabase(home.url);
  const { root } = database;
  await released['0001-foundation']?.up(root);
  await root.updateTable('edge_revision').set({ revision: 7n }).execute();
  await root.updateTable('authority_turn').set({ turn: 8n }).execute();
  expect(await migrateUp(database)).toHaveLength(1);
  expect(await root.selectFrom('edge_revision').selectAll().execute()).toEqual([
    { id: 1n, revision: 7n, public_port: null },
  ]);
  expect(await root.selectFrom('authority_turn').selectAll().execute()).toEqual([
    { id: 1n, turn: 8n },
  ]);
  expect(await storedTables()).toEqual(declaredTables);
  await database.close();
  await home.drop();
});
