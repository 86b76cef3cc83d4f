import SqliteDatabase from 'better-sqlite3';

interface Column {
  readonly name: string;
  /** Its place in the primary key, from 1; 0: it is not in it. */
  readonly pk: number;
}

/** All tables of a database with all their rows, in the order of their keys. */
export const storedText = (file: string): string => {
  const database = new SqliteDatabase(file, { readonly: true });
  try {
    const tables = database
      .prepare(`select name from sqlite_schema where type = 'table' order by name`)
      .pluck()
      .all() as readonly string[];
    return tables.map((table) => `${table}\n${rowsOf(database, table)}`).join('');
  } finally {
    database.close();
  }
};

const rowsOf = (database: SqliteDatabase.Database, table: string): string => {
  const columns = database.pragma(`table_info("${table}")`) as readonly Column[];
  const key = columns.filter(({ pk }) => pk > 0).toSorted((one, other) => one.pk - other.pk);
  const order = (key.length > 0 ? key : columns).map(({ name }) => `"${name}"`).join();
  const rows = database.prepare(`select * from "${table}" order by ${order}`).safeIntegers().raw();
  return rows
    .all()
    .map((row) => `${JSON.stringify(row, withWholeNumbers)}\n`)
    .join('');
};

const withWholeNumbers = (_key: string, value: unknown): unknown =>
  typeof value === 'bigint' ? String(value) : value;
