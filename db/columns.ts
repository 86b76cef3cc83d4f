import { MysqlAdapter, sql, type CreateTableBuilder, type Expression, type Kysely } from 'kysely';

/** What differs between the two databases in a migration: the names of types and the end of a table. */
export const columnsFor = (db: Kysely<unknown>) => {
  const mysql = db.getExecutor().adapter instanceof MysqlAdapter;
  const text = (length: number) => (mysql ? sql.raw(`varchar(${String(length)})`) : sql`text`);
  return {
    /** Ids that we make: a prefix and 32 hex digits. */
    id: text(40),
    text,
    longText: mysql ? sql`longtext` : sql`text`,
    /** int64, for numbers, times (epoch milliseconds) and flags (0 or 1) alike. */
    integer: mysql ? sql`bigint` : sql`integer`,
    /** An int64 that the database assigns, ascending and never twice. */
    assigned: mysql
      ? sql`bigint not null auto_increment primary key`
      : sql`integer primary key autoincrement`,
    /** Compares text by its bytes, refuses values of another type. */
    finish: <T extends string, C extends string>(table: CreateTableBuilder<T, C>) =>
      table.modifyEnd(mysql ? sql`character set utf8mb4 collate utf8mb4_bin` : sql`strict`),
  };
};

/**
 * Makes an index unless it is there: MySQL stores each statement of a migration by itself, so one that was cut
 * off begins anew with what it had made already. (Tables: `ifNotExists`.)
 */
export const createIndexOnce = async (
  db: Kysely<unknown>,
  name: string,
  table: string,
  columns: readonly string[],
): Promise<void> => {
  const index = db.schema
    .createIndex(name)
    .on(table)
    .columns([...columns]);
  await once('ER_DUP_KEYNAME', () => index.execute());
};

/** The same for an index whose rows differ. */
export const createUniqueIndexOnce = async (
  db: Kysely<unknown>,
  name: string,
  table: string,
  columns: readonly string[],
): Promise<void> => {
  const index = db.schema
    .createIndex(name)
    .on(table)
    .columns([...columns])
    .unique();
  await once('ER_DUP_KEYNAME', () => index.execute());
};

/** Lets several rows have the same in a column that was made `unique()`. */
export const dropUniqueOnce = async (
  db: Kysely<unknown>,
  table: string,
  column: string,
): Promise<void> => {
  if (db.getExecutor().adapter instanceof MysqlAdapter) {
    const index = sql`alter table ${sql.table(table)} drop index ${sql.ref(column)}`;
    await once('ER_CANT_DROP_FIELD_OR_KEY', () => index.execute(db).then(() => undefined));
  } else {
    await rebuildSqliteTable(db, table, (statement) =>
      statement.replace(new RegExp(`("${column}" [^,]*?) unique`), '$1'),
    );
  }
};

/**
 * SQLite drops no constraint: the table is made anew with all its rows and indexes (https://sqlite.org/lang_altertable.html,
 * section 7), as it is now, with whatever columns were added since. Others may refer to it: that is checked at the end of
 * the transaction.
 */
const rebuildSqliteTable = async (
  db: Kysely<unknown>,
  table: string,
  change: (statement: string) => string,
): Promise<void> => {
  const { rows } = await sql<{ readonly type: string; readonly sql: string }>`
    select type, sql from sqlite_master where tbl_name = ${table} and sql is not null
  `.execute(db);
  const made = rows.find(({ type }) => type === 'table');
  if (!made) throw new Error(`there is no table ${table}`);
  const [name, kept] = [sql.table(table), sql.table(`${table}_kept`)];
  await sql`pragma defer_foreign_keys = on`.execute(db);
  await sql`create table ${kept} as select * from ${name}`.execute(db);
  await sql`drop table ${name}`.execute(db);
  await sql.raw(change(made.sql)).execute(db);
  await sql`insert into ${name} select * from ${kept}`.execute(db);
  await sql`drop table ${kept}`.execute(db);
  for (const index of rows.filter(({ type }) => type === 'index')) {
    await sql.raw(index.sql).execute(db);
  }
};

/** Adds a column that may be null, unless it is there: the release before goes on writing rows without it. */
export const addColumnOnce = (
  db: Kysely<unknown>,
  table: string,
  column: string,
  type: Expression<unknown>,
): Promise<void> =>
  once('ER_DUP_FIELDNAME', () => db.schema.alterTable(table).addColumn(column, type).execute());

const once = async (doneAlready: string, step: () => Promise<void>): Promise<void> => {
  try {
    await step();
  } catch (error) {
    if ((error as { code?: unknown }).code !== doneAlready) throw error;
  }
};
