import SqliteDatabase from 'better-sqlite3';

/** From now on the SQLite file refuses every change of that column. */
export const refuseChangesOf = (path: string, table: string, column: string): void => {
  const database = new SqliteDatabase(path);
  database.exec(`create trigger refuse before update of ${column} on ${table}
    begin select raise(abort, 'refused by the test'); end`);
  database.close();
};
