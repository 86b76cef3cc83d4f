import SqliteDatabase from 'better-sqlite3';

/** Holds the write lock of a SQLite file, as another program does during a long transaction. */
export const lockFile = (url: string): { release(): void } => {
  const file = new SqliteDatabase(url.replace('sqlite:', ''), { timeout: 10_000 });
  file.exec('begin immediate');
  return {
    release: () => {
      file.exec('rollback');
      file.close();
    },
  };
};
