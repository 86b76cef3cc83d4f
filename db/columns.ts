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
