import { chmod, copyFile, link, open, rm, stat } from 'node:fs/promises';
import SqliteDatabase from 'better-sqlite3';
import { readFacts, type CopyFacts, type OnCopied } from './copy-facts.ts';

/** Of 4 KiB: so much is copied between two turns of the event loop. */
const pagesPerStep = 2_000;
/** For other programs that repair the file. */
const lockMs = 10_000;

/** Copies a database that others write meanwhile. @throws Error when there is none, or it is damaged */
export const copySqlite = async (
  from: string,
  to: string,
  onCopied: OnCopied,
): Promise<CopyFacts> => {
  try {
    const facts = await copyAsOfNow(from, to, onCopied);
    const [problem] = integrityProblems(to);
    if (problem !== undefined) throw damaged(from, problem);
    return facts;
  } catch (error) {
    const { code, message } = error as { readonly code?: unknown; readonly message: string };
    throw /^SQLITE_(CORRUPT|NOTADB)/.test(String(code)) ? damaged(from, message) : error;
  }
};

const damaged = (path: string, problem: string): Error =>
  new Error(`There is no new backup, because the database ${path} is damaged: ${problem}.`);

/** Also of its indexes: reading all of a copy takes less time than making it. */
const integrityProblems = (path: string): readonly string[] => {
  const file = new SqliteDatabase(path, { fileMustExist: true });
  try {
    const found = file.pragma('integrity_check') as { integrity_check: string }[];
    return found.map((row) => row.integrity_check).filter((text) => text !== 'ok');
  } finally {
    file.close();
  }
};

const copyAsOfNow = async (from: string, to: string, onCopied: OnCopied): Promise<CopyFacts> => {
  const source = new SqliteDatabase(from, { readonly: true, fileMustExist: true, timeout: lockMs });
  try {
    source.defaultSafeIntegers(true);
    // SQLite starts a copy over whenever another process has written. An open read transaction keeps it on one state.
    source.exec('begin');
    const tables = source
      .prepare(`select name from sqlite_master where type = 'table' and name not like 'sqlite_%'`)
      .pluck()
      .all() as string[];
    const pageBytes = Number(source.pragma('page_size', { simple: true }));
    await source.backup(to, {
      progress: ({ totalPages, remainingPages }) => {
        onCopied((totalPages - remainingPages) * pageBytes, totalPages * pageBytes);
        return pagesPerStep;
      },
    });
    await chmod(to, 0o600);
    return await readFacts((sql) => source.prepare(sql).all() as object[], tables);
  } finally {
    source.close();
  }
};

/** @returns what keeps a database from being restored there */
export const sqliteObstacle = async (path: string): Promise<string | undefined> => {
  const beside = ['-wal', '-shm', '-journal'].map((end) => path + end);
  for (const one of [path, ...beside]) {
    const found = await stat(one).catch(() => undefined);
    if (found) return `${one} exists`;
  }
  return undefined;
};

/** Puts a copy in place, in one step. @throws Error when a database has appeared there meanwhile */
export const placeSqlite = async (copy: string, path: string): Promise<void> => {
  const draft = `${path}.restoring`;
  await rm(draft, { force: true });
  await copyFile(copy, draft);
  await chmod(draft, 0o600);
  await flush(draft);
  try {
    await link(draft, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    const problem = `${path} appeared during the restore. Stop what made it, and move it away.`;
    throw new Error(problem, { cause: error });
  } finally {
    await rm(draft, { force: true });
  }
};

/** @returns what SQLite finds wrong with a file, nothing if all is well */
export const sqliteDamage = (path: string): readonly string[] => {
  const file = new SqliteDatabase(path, { fileMustExist: true });
  try {
    const strays = file.pragma('foreign_key_check') as { table: string }[];
    return [
      ...integrityProblems(path),
      ...strays.map((row) => `a row of ${row.table} refers to no row`),
    ];
  } finally {
    file.close();
  }
};

const flush = async (path: string): Promise<void> => {
  const file = await open(path, 'r+');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
};
