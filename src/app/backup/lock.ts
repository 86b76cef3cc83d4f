import { existsSync } from 'node:fs';
import { join } from 'node:path';
import SqliteDatabase from 'better-sqlite3';

/**
 * Keeps other backups out of the folder while `work` runs. The lock is SQLite's, on an empty file: it ends with the
 * process, however that ends.
 * @param as a backup removes what others read, so readers share the folder with readers only
 * @throws Error when it is in use
 */
export const holding = async <T>(
  folder: string,
  as: 'writer' | 'reader',
  work: () => Promise<T>,
): Promise<T> => {
  const path = join(folder, 'lock');
  // A copy of a backup, perhaps on a medium that cannot be written, has none, and nobody writes there.
  if (as === 'reader' && !existsSync(path)) return work();
  const lock = new SqliteDatabase(path, { timeout: 0, readonly: as === 'reader' });
  try {
    if (!isTaken(lock, as)) {
      throw new Error(`${folder} is in use by another backup, check or restore.`);
    }
    return await work();
  } finally {
    lock.close();
  }
};

/** @returns false when another process has it */
const isTaken = (lock: SqliteDatabase.Database, as: 'writer' | 'reader'): boolean => {
  try {
    // A journal on the disk would outlast a killed process.
    if (as === 'writer') lock.pragma('journal_mode = memory');
    lock.exec(as === 'writer' ? 'begin exclusive' : 'begin; select * from sqlite_master');
    return true;
  } catch (error) {
    if (String((error as { code?: unknown }).code).startsWith('SQLITE_BUSY')) return false;
    throw error;
  }
};
