import SqliteDatabase from 'better-sqlite3';
import { openDatabase } from './databases.ts';

/**
 * Holds the write lock of a SQLite file, like another program.
 * @returns a function that releases it
 */
export const holdLock = async (url: string): Promise<() => Promise<void>> => {
  const other = openDatabase(url);
  const held = Promise.withResolvers<undefined>();
  const over = Promise.withResolvers<undefined>();
  const holding = other.transaction(async () => {
    held.resolve(undefined);
    await over.promise;
  });
  await Promise.race([held.promise, holding]);
  return async () => {
    over.resolve(undefined);
    await holding;
    await other.close();
  };
};

/** Holds the write lock of a SQLite file, like another program during a long transaction. */
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
