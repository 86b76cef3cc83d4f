import SqliteDatabase from 'better-sqlite3';
import { migrationTable, type CopyFacts } from './copy-facts.ts';
import { sqliteFacts, sqliteTables } from './sqlite-copy.ts';

/** Values of one row, in the order of the columns: text, int64, bytes or null. */
export type RowValues = readonly unknown[];

/** One statement each: so little that any server takes it (`max_allowed_packet`). */
const batch = { rows: 1_000, length: 512 * 1_024 };

/** What Kysely keeps for itself. */
export const bookkeeping = [migrationTable, `${migrationTable}_lock`];

/** A SQLite database that nobody else has open. */
export class SqliteSource {
  readonly #file: SqliteDatabase.Database;

  constructor(file: SqliteDatabase.Database) {
    this.#file = file;
  }

  facts(): Promise<CopyFacts> {
    return sqliteFacts(this.#file);
  }

  /** All that migrations have made, each after those that it refers to. */
  tables(): readonly string[] {
    const tables = sqliteTables(this.#file).filter((name) => !bookkeeping.includes(name));
    const done: string[] = [];
    const isNext = (table: string): boolean =>
      !done.includes(table) &&
      this.#referencesOf(table).every((one) => one === table || done.includes(one));
    while (done.length < tables.length) {
      const next = tables.filter(isNext);
      if (next.length === 0) throw new Error('the tables refer to each other in a circle');
      done.push(...next);
    }
    return done;
  }

  columnsOf(table: string): readonly string[] {
    return this.#texts('select name from pragma_table_info(?) order by cid', table);
  }

  /** No other statement may run meanwhile. */
  *rowsOf(table: string): Generator<readonly RowValues[]> {
    const names = this.columnsOf(table).map((name) => `"${name}"`);
    const all = this.#file.prepare(`select ${names.join()} from "${table}"`).raw().iterate();
    let rows: RowValues[] = [];
    let length = 0;
    for (const row of all as Iterable<RowValues>) {
      rows.push(row);
      length += lengthOf(row);
      if (rows.length < batch.rows && length < batch.length) continue;
      yield rows;
      [rows, length] = [[], 0];
    }
    if (rows.length > 0) yield rows;
  }

  /** The highest id that each table ever assigned, also to a row that is gone. */
  assignedIds(): ReadonlyMap<string, bigint> {
    const rows = this.#file.prepare('select name, seq from sqlite_sequence').raw().all();
    return new Map(rows as [string, bigint][]);
  }

  #referencesOf(table: string): readonly string[] {
    return this.#texts('select "table" from pragma_foreign_key_list(?)', table);
  }

  #texts(sql: string, ...values: readonly string[]): readonly string[] {
    return this.#file
      .prepare(sql)
      .pluck()
      .all(...values) as string[];
  }
}

const lengthOf = (row: RowValues): number => {
  const lengths = row.map((value) =>
    typeof value === 'string' || Buffer.isBuffer(value) ? value.length : 8,
  );
  return lengths.reduce((one, other) => one + other, 0);
};

/**
 * Keeps everybody else out while `work` runs, so that nobody writes what it would miss. A service has its file open as
 * long as it runs, which excludes this lock; it ends with the process, however that ends.
 * @throws Error when others have it open
 */
export const withSqliteSource = async <T>(
  path: string,
  work: (source: SqliteSource) => Promise<T>,
): Promise<T> => {
  const file = new SqliteDatabase(path, { fileMustExist: true, timeout: 0 });
  try {
    file.defaultSafeIntegers(true);
    lock(file, path);
    return await work(new SqliteSource(file));
  } finally {
    file.close();
  }
};

const lock = (file: SqliteDatabase.Database, path: string): void => {
  try {
    // In this mode SQLite takes the lock on the whole file, also in WAL, where `begin exclusive` lets others read.
    file.pragma('locking_mode = exclusive');
    file.exec('begin exclusive');
  } catch (cause) {
    if (!String((cause as { code?: unknown }).code).startsWith('SQLITE_BUSY')) throw cause;
    const problem = `${path} is in use: a service or another command has it open.`;
    throw new Error(`${problem} Stop the service, and try again.`, { cause });
  }
};
