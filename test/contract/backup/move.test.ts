import SqliteDatabase from 'better-sqlite3';
import { createConnection, type RowDataPacket } from 'mysql2/promise';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { moveToMysql, withSqliteSource } from '../../../src/adapters/kysely/copies/move.ts';
import { migrateUp } from '../../../src/adapters/kysely/migrations.ts';
import { backUp } from '../../../src/app/backup/back-up.ts';
import { checkDatabase } from '../../../src/app/doctor/check-database.ts';
import { moveDatabase } from '../../../src/app/move-database.ts';
import { loadConfig } from '../../../src/app/settings/config.ts';
import { emptyDatabase, openDatabase, type TestDatabase } from '../../support/servers/databases.ts';
import { migratedDatabase } from '../../support/servers/migrated-database.ts';

let from: TestDatabase;
let to: TestDatabase;
beforeEach(async () => {
  [from, to] = [await migratedDatabase('sqlite'), await emptyDatabase('mysql')];
});
afterEach(async () => {
  for (const one of [from, to]) await one.drop();
});

const path = () => from.url.slice('sqlite:'.length);
const move = (target = to.url, onMoved: (table: string, rows: number) => void = () => undefined) =>
  moveDatabase(loadConfig({ DATABASE_URL: from.url, DATA_DIR: `${path()}.data` }), target, onMoved);

const inSource = <T>(work: (file: SqliteDatabase.Database) => T): T => {
  const file = new SqliteDatabase(path(), { timeout: 0 });
  try {
    file.defaultSafeIntegers(true);
    return work(file);
  } finally {
    file.close();
  }
};
const change = (sql: string) => inSource((file) => file.exec(sql));

type Texts = readonly (readonly (string | null)[])[];
const inTarget = async (sql: string): Promise<Texts> => {
  const connection = await createConnection({
    uri: to.url,
    rowsAsArray: true,
    supportBigNumbers: true,
    bigNumberStrings: true,
  });
  try {
    const [rows] = await connection.query<RowDataPacket[]>(sql);
    return inWords(Array.isArray(rows) ? (rows as unknown as Values) : []);
  } finally {
    await connection.end();
  }
};
type Values = readonly (readonly (string | bigint | null)[])[];
const inWords = (rows: Values): Texts =>
  rows.map((row) => row.map((value) => (value === null ? null : String(value)))).toSorted();

interface Column {
  readonly name: string;
  readonly type: string;
  readonly notnull: bigint;
  readonly pk: bigint;
}
interface Reference {
  readonly from: string;
  readonly table: string;
  readonly to: string;
}

const integers = [-(2n ** 63n), 2n ** 63n - 1n, 0n];
const assigned = [0n, 7n, 2n ** 53n + 1n];
/** Values that differ by case and contain characters that need escaping. */
const texts = ['a', 'A', 'b'].map((letter) => `${letter}é'"\\\0😀\n`);

const fillAll = (file: SqliteDatabase.Database, tables: readonly string[]): void => {
  for (const table of tables) {
    const columns = file.pragma(`table_info(${table})`) as Column[];
    const references = file.pragma(`foreign_key_list(${table})`) as Reference[];
    for (let row = 0; row < 3; row++) {
      const values = columns.map(({ name, type, notnull, pk }) => {
        const reference = references.find((one) => one.from === name);
        const ofParent = `select ${reference?.to ?? ''} from ${reference?.table ?? ''} order by rowid`;
        if (reference) return file.prepare(ofParent).pluck().all()[row];
        if (row === 2 && notnull === 0n && pk === 0n) return null;
        if (type.toLowerCase() !== 'integer') return texts[row];
        return (pk === 0n ? integers : assigned)[row];
      });
      const marks = columns.map(() => '?').join();
      file.prepare(`insert into ${table} values (${marks})`).run(values);
    }
  }
};

describe('a move from SQLite to MySQL', () => {
  test('copies every table exactly: every digit, byte and null', async () => {
    const tables = await withSqliteSource(path(), (source) => Promise.resolve(source.tables()));
    const before = inSource((file) => {
      // These tables have one row each, with the id 1.
      for (const table of tables) file.exec(`delete from ${table}`);
      fillAll(file, tables);
      const all = tables.map((table) => file.prepare(`select * from ${table}`).raw().all());
      return all.map((rows) => inWords(rows as Values));
    });
    const steps: [string, number][] = [];
    const { rows } = await move(to.url, (table, done) => steps.push([table, done]));
    expect(rows).toEqual(Object.fromEntries(tables.map((table) => [table, 3])));
    expect(steps).toEqual(tables.map((table, at) => [table, 3 * at]));
    for (const [at, table] of tables.entries()) {
      expect([table, await inTarget(`select * from ${table}`)]).toEqual([table, before[at]]);
    }
    const applied = 'select name, timestamp from kysely_migration';
    const inFile = inSource((file) => file.prepare(applied).raw().all()) as Values;
    expect(await inTarget(applied)).toEqual(inWords(inFile));
    const database = openDatabase(to.url);
    expect(await migrateUp(database)).toEqual([]);
    await database.close();
  });

  test('continues after each batch, and new rows get ids that no copied row has', async () => {
    change(`
      insert into accounts (id, name, email, plan, created_at, warnings)
        values ('acct_1', 'Zoo', 'a@b.example', 'pro', 1, '{"removals":[]}');
      with recursive n (i) as (select 1 union all select i + 1 from n where i < 2500)
      insert into pets select i, 'acct_1', 'Rex ' || i, i, 'available', 'REX ' || i from n;
      delete from pets where id = 2500`);
    const steps: number[] = [];
    await move(to.url, (table, done) => table === 'pets' && steps.push(done));
    expect(steps.map((done) => done - (steps[0] ?? 0))).toEqual([0, 1_000, 2_000]);
    expect(await inTarget('select count(*), max(id) from pets')).toEqual([['2499', '2499']]);
    await inTarget(
      `insert into pets (account_id, name, category_id, status, searched_name) values ('acct_1', '', 0, '', '')`,
    );
    expect(await inTarget('select max(id) from pets')).toEqual([['2501']]);
  });

  test('is refused while a service has the file open, even an idle one', async () => {
    const service = openDatabase(from.url);
    await service.ping();
    await expect(move()).rejects.toThrow('is in use: a service or another command has it open');
    await service.close();
    expect(await inTarget('show tables')).toEqual([]);
    await move();
  });

  test('prevents services from opening the file until it ends', async () => {
    const codes: unknown[] = [];
    await move(to.url, () => {
      try {
        change(`update edge_revision set revision = 9`);
      } catch (error) {
        codes.push((error as { code?: unknown }).code);
      }
    });
    expect(new Set(codes)).toEqual(new Set(['SQLITE_BUSY']));
    change(`update edge_revision set revision = 9`);
  });

  test('does not change a database that already contains something', async () => {
    await inTarget('create table birds (id int)');
    await expect(move()).rejects.toThrow('is in use or not empty: it has 1 tables. Name an empty');
    expect(await inTarget('show tables')).toEqual([['birds']]);
  });

  test('names the table that does not fit; services refuse the partial copy, and a repeated move copies everything', async () => {
    const jobs = `insert into job_leases values ('${'too long '.repeat(99)}', '', 1), ('b', '', 2)`;
    change(jobs);
    await expect(move()).rejects.toThrow('The rows of job_leases do not fit into the new database');
    const database = openDatabase(to.url);
    const unfinished = 'A move into this database was not finished';
    await expect(migrateUp(database)).rejects.toThrow(unfinished);
    await database.close();
    const config = loadConfig({ DATABASE_URL: to.url });
    expect(await checkDatabase(config)).toMatchObject([
      { state: 'failed', seen: expect.stringContaining(unfinished) },
    ]);
    const backup = backUp(config, `${path()}.backup`, () => undefined);
    await expect(backup).rejects.toThrow(unfinished);
    change(`delete from job_leases where job <> 'b'`);
    expect((await move()).rows).toMatchObject({ job_leases: 1 });
    expect(await inTarget('select job from job_leases')).toEqual([['b']]);
  });

  test('does not copy a table that no migration creates, and says so', async () => {
    change('create table birds (a text)');
    await expect(move()).rejects.toThrow('No migration creates the table birds');
  });

  test('fails at the end if rows are missing', async () => {
    const losing = withSqliteSource(path(), (source) => {
      const rowsOf = source.rowsOf.bind(source);
      const none = (table: string) => rowsOf(table === 'edge_revision' ? 'pets' : table);
      return moveToMysql(Object.assign(source, { rowsOf: none }), to.url, () => undefined);
    });
    await expect(losing).rejects.toThrow('not the same: edge_revision has 0 rows instead of 1');
    await move();
  });

  test.each([
    ['delete from kysely_migration', 'is missing. Run '],
    [`insert into kysely_migration values ('9999-later', '')`, 'newer than this version: 9999'],
  ])('is refused after "%s"', async (sql, words) => {
    change(sql);
    await expect(move()).rejects.toThrow(words);
  });

  test('names the database that it cannot reach, without its password', async () => {
    await expect(move('mysql://shop:hunter2@127.0.0.1:1/shop')).rejects.toThrow(
      /^The database mysql:\/\/127\.0\.0\.1:1\/shop cannot be reached \(ECONNREFUSED\)\. .*--to\.$/,
    );
    await expect(move('sqlite:/tmp/other.db')).rejects.toThrow('Only SQLite can be moved');
  });
});
