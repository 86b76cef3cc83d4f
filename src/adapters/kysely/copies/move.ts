import { isDeepStrictEqual } from 'node:util';
import SqliteDatabase from 'better-sqlite3';
import { CompiledQuery, sql, type Kysely } from 'kysely';
import { Database, type Schema } from '../database.ts';
import { knownMigrations, migrator } from '../migrations.ts';
import { failureOf } from '../engine/failure.ts';
import { migrationTable, otherRows, rowsIn, type CopyFacts } from './copy-facts.ts';
import { claimMysql, factsIn, tablesIn } from './mysql-claim.ts';
import { sqliteFacts, sqliteTables } from './sqlite-copy.ts';

/** `rows` and `total` are sums over all tables. */
export type OnMoved = (table: string, rows: number, total: number) => void;

/** Migrations are recorded here until the end, so that no service starts on a partial database. */
const draft = {
  migrationTableName: 'moving_migration',
  migrationLockTableName: 'moving_migration_lock',
};

type Session = Kysely<Schema>;

/**
 * Copies all rows into an empty MySQL database, which stays marked as unfinished until the last step.
 * @returns the number of rows of each table
 * @throws Error when it is in use or not empty
 * @throws Unavailable
 */
export const moveToMysql = async (
  source: SqliteSource,
  url: string,
  onMoved: OnMoved,
): Promise<CopyFacts['rows']> => {
  const facts = await source.facts();
  await claimMysql(url, 'move', async ({ empty }) => {
    await empty();
    await fill(url, source, { facts, onMoved });
  });
  return withoutBookkeeping(facts);
};

interface Copying {
  readonly facts: CopyFacts;
  readonly onMoved: OnMoved;
}

const fill = async (
  url: string,
  source: SqliteSource,
  { facts, onMoved }: Copying,
): Promise<void> => {
  const database = new Database(url, { patient: true });
  try {
    const { error } = await migrator(database, knownMigrations, draft).migrateToLatest();
    if (error instanceof Error) throw error;
    await database.root.connection().execute(async (session) => {
      // Without this mode, MySQL assigns a new id to a row with id 0.
      await sql`set sql_mode = concat(@@sql_mode, ',NO_AUTO_VALUE_ON_ZERO')`.execute(session);
      await copyAll(source, session, { facts, onMoved });
      await compare(session, facts);
      await finish(session, source);
    });
  } finally {
    await database.close();
  }
};

const copyAll = async (
  source: SqliteSource,
  session: Session,
  { facts, onMoved }: Copying,
): Promise<void> => {
  const tables = source.tables();
  const made = await tablesIn(session);
  const strange = tables.filter((table) => !made.includes(table));
  if (strange.length > 0) {
    throw new Error(`No migration creates the table ${strange.join(', ')}: drop it first.`);
  }
  // Migrations insert the only rows of some tables, which the copied rows replace.
  for (const table of tables.toReversed()) {
    await sql`delete from ${sql.table(table)}`.execute(session);
  }
  const total = rowsIn(withoutBookkeeping(facts));
  let done = 0;
  for (const table of tables) {
    const columns = source.columnsOf(table);
    for (const rows of source.rowsOf(table)) {
      onMoved(table, done, total);
      await insert(session, { table, columns, rows });
      done += rows.length;
    }
  }
  for (const [table, id] of source.assignedIds()) {
    const next = sql.lit(id + 1n);
    await sql`alter table ${sql.table(table)} auto_increment = ${next}`.execute(session);
  }
};

interface Rows {
  readonly table: string;
  readonly columns: readonly string[];
  readonly rows: readonly RowValues[];
}

/** Writes raw SQL, because a query builder would take longer than the server. */
const insert = async (session: Session, { table, columns, rows }: Rows): Promise<void> => {
  const names = columns.map((name) => `\`${name}\``).join();
  const marks = `(${columns.map(() => '?').join()})`;
  const text = `insert into \`${table}\` (${names}) values ${rows.map(() => marks).join()}`;
  try {
    await session.executeQuery(CompiledQuery.raw(text, rows.flat()));
  } catch (cause) {
    if (failureOf(cause) === 'unavailable') throw cause;
    const { message } = cause as Error;
    throw new Error(`The rows of ${table} do not fit into the new database: ${message}.`, {
      cause,
    });
  }
};

const compare = async (session: Session, facts: CopyFacts): Promise<void> => {
  const found = await factsIn(session);
  const different = otherRows(withoutBookkeeping(found), withoutBookkeeping(facts));
  if (different.length === 0 && isDeepStrictEqual(facts.deploys, found.deploys)) return;
  throw new Error(`The new database is not the same: ${different.join(', ') || 'deploys differ'}.`);
};

/** Removes the mark, so that a service may start. */
const finish = async (session: Session, source: SqliteSource): Promise<void> => {
  for (const table of Object.values(draft))
    await sql`drop table ${sql.table(table)}`.execute(session);
  const columns = source.columnsOf(migrationTable);
  const rows = [...source.rowsOf(migrationTable)].flat();
  await session.transaction().execute(async (all) => {
    await sql`delete from ${sql.table(migrationTable)}`.execute(all);
    await insert(all, { table: migrationTable, columns, rows });
  });
};

const withoutBookkeeping = ({ rows }: CopyFacts): CopyFacts['rows'] => {
  const kept = [...bookkeeping, ...Object.values(draft)];
  return Object.fromEntries(Object.entries(rows).filter(([table]) => !kept.includes(table)));
};

/** Values in the order of the columns. */
export type RowValues = readonly unknown[];

/** Small enough for every server's `max_allowed_packet`. */
const batch = { rows: 1_000, length: 512 * 1_024 };

const bookkeeping = [migrationTable, `${migrationTable}_lock`];

export class SqliteSource {
  readonly #file: SqliteDatabase.Database;

  constructor(file: SqliteDatabase.Database) {
    this.#file = file;
  }

  facts(): Promise<CopyFacts> {
    return sqliteFacts(this.#file);
  }

  /** In the order of their migrations, so each table comes after those that it refers to. */
  tables(): readonly string[] {
    return sqliteTables(this.#file).filter((name) => !bookkeeping.includes(name));
  }

  columnsOf(table: string): readonly string[] {
    const names = this.#file.prepare('select name from pragma_table_info(?) order by cid');
    return names.pluck().all(table) as string[];
  }

  /** No other statement may run during the iteration. */
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

  /** The highest ids ever assigned. */
  assignedIds(): ReadonlyMap<string, bigint> {
    const rows = this.#file.prepare('select name, seq from sqlite_sequence').raw().all();
    return new Map(rows as [string, bigint][]);
  }
}

const lengthOf = (row: RowValues): number => {
  const lengths = row.map((value) =>
    typeof value === 'string' || Buffer.isBuffer(value) ? value.length : 8,
  );
  return lengths.reduce((one, other) => one + other, 0);
};

/** Excludes all others while `work` runs. The lock ends with the process. @throws Error if others have the file open */
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
    // An exclusive locking mode excludes readers even in WAL mode, where `begin exclusive` admits them.
    file.pragma('locking_mode = exclusive');
    file.exec('begin exclusive');
  } catch (cause) {
    if (!String((cause as { code?: unknown }).code).startsWith('SQLITE_BUSY')) throw cause;
    const problem = `${path} is in use: a service or another command has it open.`;
    throw new Error(`${problem} Stop the service, and try again.`, { cause });
  }
};
