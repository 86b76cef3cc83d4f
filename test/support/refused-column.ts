import SqliteDatabase from 'better-sqlite3';

/** Makes the SQLite file refuse every change of that column from now on. */
export const refuseChangesOf = (path: string, table: string, column: string): void => {
  const database = new SqliteDatabase(path);
  database.exec(`create trigger refuse before update of ${column} on ${table}
    begin select raise(abort, 'refused by the test'); end`);
  database.close();
};
