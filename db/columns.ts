import { MysqlAdapter, sql, type CreateTableBuilder, type Kysely } from 'kysely';

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
  try {
    await db.schema
      .createIndex(name)
      .on(table)
      .columns([...columns])
      .execute();
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'ER_DUP_KEYNAME') throw error;
  }
};
