import { expect, test } from '@jest/globals';
import { createConnection } from 'mysql2/promise';
import { migrateUp } from '../../../src/adapters/kysely/migrations.ts';
import { emptyDatabase, openDatabase, type TestDatabase } from '../../support/servers/databases.ts';
import { migratedDatabase, tablesOf } from '../../support/servers/migrated-database.ts';

const toldOf = async (home: TestDatabase): Promise<readonly string[]> => {
  const connection = await createConnection({ uri: home.url, dateStrings: true });
  const statements = await tablesOf(connection);
  await connection.end();
  // Removes the times when migrations were applied.
  return statements.map((one) => one.replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, ''));
};

test('tests on MySQL get a copy of a migrated database that equals what the migrations create', async () => {
  const [copy, migrated] = [await migratedDatabase('mysql'), await emptyDatabase('mysql')];
  const database = openDatabase(migrated.url);
  expect((await migrateUp(database)).length).toBeGreaterThan(0);
  await database.close();
  const made = await toldOf(migrated);
  expect(made.length).toBeGreaterThan(30);
  expect(await toldOf(copy)).toEqual(made);
  await Promise.all([copy.drop(), migrated.drop()]);
});

test.each(['sqlite', 'mysql'] as const)('a copy on %s needs no migration', async (kind) => {
  const copy = await migratedDatabase(kind);
  const database = openDatabase(copy.url);
  expect(await migrateUp(database)).toEqual([]);
  await database.close();
  await copy.drop();
});
