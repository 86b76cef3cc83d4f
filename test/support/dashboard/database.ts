import Database from 'better-sqlite3';

/** All rows of all tables, so that a test can say that nothing has changed. */
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
