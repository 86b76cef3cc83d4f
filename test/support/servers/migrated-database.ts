import { readFile, writeFile } from 'node:fs/promises';
import { createConnection, type Connection, type RowDataPacket } from 'mysql2/promise';
import { migrateUp } from '../../../src/adapters/kysely/migrations.ts';
import { emptyDatabase, openDatabase, type DatabaseKind, type TestDatabase } from './databases.ts';

/** Copies the content of a migrated database into an empty one. */
type Fill = (url: string) => Promise<void>;

const fills: Partial<Record<DatabaseKind, Promise<Fill>>> = {};

/** A database of this release, for one test file. Each worker migrates one; the others are copies of it. */
export const migratedDatabase = async (kind: DatabaseKind): Promise<TestDatabase> => {
  const database = await emptyDatabase(kind);
  const fill = await (fills[kind] ??= fillFor(kind));
  await fill(database.url);
  return database;
};

const fillFor = async (kind: DatabaseKind): Promise<Fill> => {
  const model = await emptyDatabase(kind);
  const database = openDatabase(model.url);
  await migrateUp(database);
  await database.close();
  const fill = await (kind === 'sqlite' ? copyOfFile : copyOfTables)(model.url);
  await model.drop();
  return fill;
};

const copyOfFile = async (url: string): Promise<Fill> => {
  const content = await readFile(fileOf(url));
  return (other) => writeFile(fileOf(other), content, { mode: 0o600 });
};

const fileOf = (url: string): string => url.replace('sqlite:', '');

const copyOfTables = async (url: string): Promise<Fill> => {
  const statements = await connected(url, tablesOf);
  const script = ['set foreign_key_checks = 0', ...statements].join(';\n');
  return (other) => connected(other, async (to) => void (await to.query(script)));
};

const connected = async <T>(url: string, work: (to: Connection) => Promise<T>): Promise<T> => {
  const to = await createConnection({ uri: url, multipleStatements: true, dateStrings: true });
  try {
    return await work(to);
  } finally {
    await to.end();
  }
};

/** The statements that create the tables of a small database with their rows. */
export const tablesOf = async (from: Connection): Promise<readonly string[]> => {
  const [tables] = await from.query<RowDataPacket[]>({ sql: 'show tables', rowsAsArray: true });
  const statements: string[] = [];
  for (const [name] of tables as unknown as readonly string[][]) {
    const [[made]] = await from.query<RowDataPacket[]>('show create table ??', [name]);
    statements.push(String(made?.['Create Table']));
    const [rows] = await from.query<RowDataPacket[]>('select * from ??', [name]);
    for (const row of rows) statements.push(from.format('insert into ?? set ?', [name, row]));
  }
  return statements;
};
