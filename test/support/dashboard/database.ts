import Database from 'better-sqlite3';

/** All rows of all tables, so that a test can assert that nothing has changed. */
export const everythingStored = (url: string): Readonly<Record<string, readonly unknown[]>> => {
  const database = new Database(url.replace('sqlite:', ''), { readonly: true });
  try {
    const tables = database.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all();
    const rows = (tables as { readonly name: string }[]).map(
      ({ name }) => [name, database.prepare(`SELECT * FROM "${name}"`).all()] as const,
    );
    return Object.fromEntries(rows);
  } finally {
    database.close();
  }
};

/** Sets of columns in which no two rows of a table are equal. */
export const uniqueColumns = (url: string, table: string): readonly (readonly string[])[] => {
  const database = new Database(url.replace('sqlite:', ''), { readonly: true });
  const names = (query: string, of: string): readonly string[] =>
    database
      .prepare<[string], { readonly name: string }>(query)
      .all(of)
      .map(({ name }) => name);
  try {
    const key = names('SELECT name FROM pragma_table_info(?) WHERE pk > 0', table);
    const indexes = names('SELECT name FROM pragma_index_list(?) WHERE "unique" = 1', table);
    const others = indexes.map((index) => names('SELECT name FROM pragma_index_info(?)', index));
    return [key, ...others].filter((columns) => columns.length > 0);
  } finally {
    database.close();
  }
};
