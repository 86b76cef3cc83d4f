import {
  sql,
  type ColumnDefinitionBuilder,
  type CreateTableBuilder,
  type Kysely,
  type RawBuilder,
} from 'kysely';
import { columnTypes } from '../src/adapters/kysely/engine/column-types.ts';

interface Column {
  readonly type: RawBuilder<unknown>;
  readonly is: (column: ColumnDefinitionBuilder) => ColumnDefinitionBuilder;
}

interface TableExtras {
  readonly primaryKey?: readonly string[];
  /** Names of constraints with their columns. */
  readonly unique?: Readonly<Record<string, readonly string[]>>;
  /** Names of constraints with the column, and the table whose `id` it holds. */
  readonly foreignKeys?: Readonly<Record<string, readonly [column: string, table: string]>>;
  /** Names of indexes with their columns. */
  readonly indexes?: Readonly<Record<string, readonly string[]>>;
}

/** The types of columns. Text is compared by its bytes. */
export const columnsFor = (db: Kysely<unknown>) => {
  const types = columnTypes(db);
  const text = (length: number) => column(types.text(length));
  return {
    /** Ids that we make: a prefix and 32 hex digits. */
    id: text(40),
    text,
    longText: column(types.longText),
    /** int64, for numbers, times (epoch milliseconds) and flags (0 or 1) alike. */
    integer: column(types.integer),
    /** An int64 that the database assigns, ascending and never reused. */
    assigned: { type: sql.raw(types.assigned), is: (c) => c } satisfies Column,
  };
};

const column = (type: string): Column => ({ type: sql.raw(type), is: (c) => c.notNull() });

export const primary = ({ type, is }: Column): Column => ({ type, is: (c) => is(c).primaryKey() });
export const unique = ({ type, is }: Column): Column => ({ type, is: (c) => is(c).unique() });
/** May be null; no other column may. */
export const maybe = ({ type }: Column): Column => ({ type, is: (c) => c });

/**
 * Creates a table and its indexes unless they exist: MySQL commits each statement of a migration by itself, so a
 * migration that was interrupted starts over.
 */
export const createTableOnce = async (
  db: Kysely<unknown>,
  name: string,
  { columns, ...extras }: TableExtras & { readonly columns: Readonly<Record<string, Column>> },
): Promise<void> => {
  const { primaryKey, unique: constraints = {}, foreignKeys = {}, indexes = {} } = extras;
  let table: CreateTableBuilder<string, string> = db.schema.createTable(name).ifNotExists();
  for (const [column, { type, is }] of Object.entries(columns)) {
    table = table.addColumn(column, type, is);
  }
  if (primaryKey) table = table.addPrimaryKeyConstraint(`${name}_pk`, [...primaryKey]);
  for (const [constraint, on] of Object.entries(constraints)) {
    table = table.addUniqueConstraint(constraint, [...on]);
  }
  for (const [constraint, [column, parent]] of Object.entries(foreignKeys)) {
    table = table.addForeignKeyConstraint(constraint, [column], parent, ['id']);
  }
  await table.modifyEnd(sql.raw(columnTypes(db).end)).execute();
  for (const [index, on] of Object.entries(indexes)) await createIndexOnce(db, name, index, on);
};

/** Adds a column unless it exists, for the same reason. One that may be null: the version before knows nothing of it. */
export const addColumnOnce = async (
  db: Kysely<unknown>,
  table: string,
  name: string,
  { type, is }: Column,
): Promise<void> => {
  const tables = await db.introspection.getTables();
  const there = tables.find((one) => one.name === table)?.columns ?? [];
  if (there.some((column) => column.name === name)) return;
  await db.schema.alterTable(table).addColumn(name, type, is).execute();
};

/** Adds an index unless it exists, for the same reason. */
export const createIndexOnce = async (
  db: Kysely<unknown>,
  table: string,
  index: string,
  columns: readonly string[],
): Promise<void> => {
  try {
    await db.schema
      .createIndex(index)
      .on(table)
      .columns([...columns])
      .execute();
  } catch (error) {
    if (!columnTypes(db).isIndexThere(error)) throw error;
  }
};
