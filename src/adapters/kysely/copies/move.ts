import { isDeepStrictEqual } from 'node:util';
import { CompiledQuery, sql, type Kysely } from 'kysely';
import { Database } from '../database.ts';
import { knownMigrations, migrator } from '../migrations.ts';
import { failureOf } from '../engine/failure.ts';
import type { Schema } from '../schema.ts';
import { migrationTable, otherRows, type CopyFacts } from './copy-facts.ts';
import { claimMysql, factsIn, tablesIn } from './mysql-claim.ts';
import { bookkeeping, type RowValues, type SqliteSource } from './sqlite-source.ts';

/** Called with progress: `rows` and `total` count all tables together. */
export type OnMoved = (table: string, rows: number, total: number) => void;

/** What is applied is written here until the end, so that no service starts on a part. */
const draft = {
  migrationTableName: 'moving_migration',
  migrationLockTableName: 'moving_migration_lock',
};

type Session = Kysely<Schema>;

/**
 * Copies all rows into an empty MySQL database. Until the last step it is marked as unfinished: no service starts on it, and the
 * next move into it starts over.
 * @returns how many rows each table has
 * @throws Error when it is in use or not empty @throws Unavailable
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
      // Otherwise a row with the id 0 gets another one.
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
    throw new Error(`No migration makes the table ${strange.join(', ')}: drop it first.`);
  }
  // Migrations make single rows.
  for (const table of tables.toReversed()) {
    await sql`delete from ${sql.table(table)}`.execute(session);
  }
  const counts = Object.values(withoutBookkeeping(facts));
  const total = counts.reduce((one, other) => one + other, 0);
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

/** As text: a query builder would take longer than the server. */
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

/** Takes the mark away: from now on a service may start. */
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
