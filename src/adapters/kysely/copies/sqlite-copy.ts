import { chmod, copyFile, link, open, rm, stat } from 'node:fs/promises';
import SqliteDatabase from 'better-sqlite3';
import { readFacts, type CopyFacts, type InspectedCopy, type OnCopied } from './copy-facts.ts';

/** Pages (4 KiB) that are copied between two turns of the event loop. */
const pagesPerStep = 2_000;
/** How long we wait for programs that repair the file. */
const lockMs = 10_000;

/** @throws Error when the database is missing or damaged */
export const copySqlite = async (
  from: string,
  to: string,
  onCopied: OnCopied,
): Promise<CopyFacts> => {
  try {
    const facts = await copyAsOfNow(from, to, onCopied);
    const [problem] = settle(to);
    if (problem !== undefined) throw damaged(from, problem);
    return facts;
  } catch (error) {
    const { code, message } = error as { readonly code?: unknown; readonly message: string };
    throw /^SQLITE_(CORRUPT|NOTADB)/.test(String(code)) ? damaged(from, message) : error;
  }
};

const damaged = (path: string, problem: string): Error =>
  new Error(`There is no new backup, because the database ${path} is damaged: ${problem}.`);

const copyAsOfNow = async (from: string, to: string, onCopied: OnCopied): Promise<CopyFacts> => {
  const source = new SqliteDatabase(from, { readonly: true, fileMustExist: true, timeout: lockMs });
  try {
    source.defaultSafeIntegers(true);
    // Without a read transaction, SQLite starts over whenever another process writes.
    source.exec('begin');
    const facts = await sqliteFacts(source);
    const pageBytes = Number(source.pragma('page_size', { simple: true }));
    await source.backup(to, {
      progress: ({ totalPages, remainingPages }) => {
        onCopied((totalPages - remainingPages) * pageBytes, totalPages * pageBytes);
        return pagesPerStep;
      },
    });
    await chmod(to, 0o600);
    return facts;
  } finally {
    source.close();
  }
};

/** Makes the copy readable on read-only media. @returns its damage */
const settle = (path: string): readonly string[] => {
  const file = new SqliteDatabase(path, { fileMustExist: true });
  try {
    file.pragma('journal_mode = delete');
    return integrityProblems(file);
  } finally {
    file.close();
  }
};

const integrityProblems = (file: SqliteDatabase.Database): readonly string[] => {
  const found = file.pragma('integrity_check') as { integrity_check: string }[];
  return found.map((row) => row.integrity_check).filter((text) => text !== 'ok');
};

export const sqliteFacts = (file: SqliteDatabase.Database): Promise<CopyFacts> =>
  readFacts((sql) => file.prepare(sql).all() as object[], sqliteTables(file));

/** The oldest first. */
export const sqliteTables = (file: SqliteDatabase.Database): readonly string[] =>
  file
    .prepare(
      `select name from sqlite_master where type = 'table' and name not like 'sqlite_%' order by rowid`,
    )
    .pluck()
    .all() as string[];

export const inspectSqlite = async (path: string): Promise<InspectedCopy> => {
  const file = new SqliteDatabase(path, { readonly: true, fileMustExist: true });
  try {
    const strays = file.pragma('foreign_key_check') as { table: string }[];
    const damage = [
      ...integrityProblems(file),
      ...strays.map((row) => `a row of ${row.table} refers to no row`),
    ];
    return { facts: await sqliteFacts(file), damage };
  } finally {
    file.close();
  }
};

export const sqliteObstacle = async (path: string): Promise<string | undefined> => {
  const beside = ['-wal', '-shm', '-journal'].map((end) => path + end);
  for (const one of [path, ...beside]) {
    const found = await stat(one).catch(() => undefined);
    if (found) return `${one} exists`;
  }
  return undefined;
};

/** Puts the copy in place in one step. @throws Error when a database has appeared at `path` */
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
    const problem = `${path} appeared during the restore. Stop the program that created it, and move it away.`;
    throw new Error(problem, { cause: error });
  } finally {
    await rm(draft, { force: true });
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
