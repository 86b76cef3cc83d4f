import { sql, type ColumnDefinitionBuilder, type CreateTableBuilder, type Kysely } from 'kysely';
import { columnTypes } from '../src/adapters/kysely/engine/database-kind.ts';

/** A column as plain data. Columns are never null, except with `maybe`. */
export interface Column {
  readonly type: 'text' | 'longText' | 'integer' | 'assigned';
  readonly length?: number;
  readonly is?: 'primary' | 'unique';
  readonly maybe?: true;
}

/** A table as plain data, from which the schema's fingerprint is made. */
interface Table {
  readonly columns: Readonly<Record<string, Column>>;
  readonly primaryKey?: readonly string[];
  /** Constraint names with their columns. */
  readonly unique?: Readonly<Record<string, readonly string[]>>;
  /** Constraint names with the column, and the table whose `id` it holds. */
  readonly foreignKeys?: Readonly<Record<string, readonly [column: string, table: string]>>;
  /** Index names with their columns. */
  readonly indexes?: Readonly<Record<string, readonly string[]>>;
  /** The table's only row, which the migration inserts. */
  readonly row?: Readonly<Record<string, number>>;
}

/** Tables by name. Each comes after the tables that it refers to. */
export type Tables = Readonly<Record<string, Table>>;

/** Text that is compared by its bytes. */
export const text = (length: number) => ({ type: 'text', length }) as const;
export const longText = { type: 'longText' } as const;
/** Ids that we generate: a prefix and 32 hex digits. */
export const id = text(40);
/** An int64 for numbers, times (epoch milliseconds) and flags (0 or 1). */
export const integer = { type: 'integer' } as const;
/** A primary key that the database assigns: an int64, ascending and never reused. */
export const assigned = { type: 'assigned' } as const;

export const primary = (column: Column): Column => ({ ...column, is: 'primary' });
export const unique = (column: Column): Column => ({ ...column, is: 'unique' });
export const maybe = (column: Column): Column => ({ ...column, maybe: true });

/**
 * Creates tables and their indexes unless they exist. MySQL commits each statement of a migration separately, so an
 * interrupted migration starts over.
 */
export const createTables = async (db: Kysely<unknown>, tables: Tables): Promise<void> => {
  for (const [name, table] of Object.entries(tables)) {
    await createTable(db, name, table);
    for (const [index, columns] of Object.entries(table.indexes ?? {}))
      await createIndex(db, name, index, columns);
    if (table.row) await insertFirst(db, name, table.row);
  }
};

const createTable = async (db: Kysely<unknown>, name: string, table: Table): Promise<void> => {
  const { columns, primaryKey, unique: constraints = {}, foreignKeys = {} } = table;
  const types = columnTypes(db);
  let made: CreateTableBuilder<string, string> = db.schema.createTable(name).ifNotExists();
  for (const [column, { type, length = 0, ...rest }] of Object.entries(columns)) {
    const its = type === 'text' ? types.text(length) : types[type];
    made = made.addColumn(column, sql.raw(its), (built) =>
      type === 'assigned' ? built : constrained(built, rest),
    );
  }
  if (primaryKey) made = made.addPrimaryKeyConstraint(`${name}_pk`, [...primaryKey]);
  for (const [constraint, on] of Object.entries(constraints)) {
    made = made.addUniqueConstraint(constraint, [...on]);
  }
  for (const [constraint, [column, parent]] of Object.entries(foreignKeys)) {
    made = made.addForeignKeyConstraint(constraint, [column], parent, ['id']);
  }
  await made.modifyEnd(sql.raw(types.end)).execute();
};

const constrained = (
  column: ColumnDefinitionBuilder,
  { is, maybe: mayBeNull }: Pick<Column, 'is' | 'maybe'>,
): ColumnDefinitionBuilder => {
  const typed = mayBeNull ? column : column.notNull();
  if (is === 'primary') return typed.primaryKey();
  return is === 'unique' ? typed.unique() : typed;
};

const createIndex = async (
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

const insertFirst = async (
  db: Kysely<unknown>,
  table: string,
  row: Readonly<Record<string, number>>,
): Promise<void> => {
  const { rows } = await sql`select 1 from ${sql.table(table)}`.execute(db);
  if (rows.length > 0) return;
  const columns = sql.join(Object.keys(row).map((column) => sql.ref(column)));
  await sql`insert into ${sql.table(table)} (${columns}) values (${sql.join(Object.values(row))})`.execute(
    db,
  );
};
