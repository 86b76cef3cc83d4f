import { chmodSync, closeSync, existsSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import SqliteDatabase from 'better-sqlite3';
import { SqliteAdapter, SqliteDialect, type Driver } from 'kysely';
import type { Deadline } from '../../kernel/deadline.ts';
import type { Engine } from './engine.ts';
import { SqliteFileDriver, type SqliteFile } from './sqlite-driver.ts';
import { givingUpAfter, pastOtherPrograms } from './sqlite-lock.ts';
import { SqliteWriters, type Breathe, type Patience } from './sqlite-writers.ts';

/** How long is waited for another program that has the file locked. */
const lockLimitsMs = { usual: 2000, patient: 60_000 };

/** Every commit is on the disk before it is acknowledged (WAL, synchronous=FULL). */
export const openSqlite = (
  path: string,
  patient: boolean,
  deadline: Pick<Deadline, 'leftMs'>,
): Engine => {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  keepToOurselves(path);
  const limitMs = patient ? lockLimitsMs.patient : lockLimitsMs.usual;
  const patience = (): Patience => {
    const { leftMs } = deadline;
    return { lockMs: Math.min(limitMs, leftMs), leftMs };
  };
  const file = openFile(path, patience);
  return {
    kind: 'sqlite',
    dialect: new SqliteFileDialect(file),
    readCommitted: (text, parameters) =>
      pastOtherPrograms(() => file.reader(text).all(parameters), givingUpAfter(patience().lockMs)),
  };
};

/** SQLite itself waits for nobody: with it, everything in this process would wait. */
const openFile = (path: string, patience: () => Patience): SqliteFile => {
  const writer = new SqliteDatabase(path, { timeout: 0 });
  writer.defaultSafeIntegers(true);
  const reader = new SqliteDatabase(path, { timeout: 0, readonly: true });
  reader.defaultSafeIntegers(true);
  const breathe = breathing();
  return {
    reader: keepStatements(reader),
    writer: keepStatements(writer),
    writers: new SqliteWriters(breathe),
    breathe,
    patience,
    isInTransaction: () => writer.inTransaction,
    prepare: () => {
      writer.pragma('journal_mode = WAL');
      writer.pragma('synchronous = FULL');
      writer.pragma('foreign_keys = ON');
    },
    close: () => {
      reader.close();
      writer.close();
    },
  };
};

/**
 * Only our user reads and writes the database: SQLite gives the files beside it the mode of the first. One that an
 * earlier release made readable to others is tightened; where it belongs to another user it stays as it is, and
 * `serve` warns of it.
 */
const keepToOurselves = (path: string): void => {
  closeSync(openSync(path, 'a', 0o600));
  for (const one of ['', '-wal', '-shm'].map((end) => path + end).filter(existsSync)) {
    try {
      chmodSync(one, 0o600);
    } catch (error) {
      // A companion that went away meanwhile needs nothing either.
      const { code } = error as { code?: unknown };
      if (code !== 'EPERM' && code !== 'ENOENT') throw error;
    }
  }
};

/** Prepares each text once. */
const keepStatements = (file: SqliteDatabase.Database) => {
  const statements = new Map<string, SqliteDatabase.Statement>();
  return (text: string): SqliteDatabase.Statement => {
    let statement = statements.get(text);
    if (!statement) {
      statement = file.prepare(text);
      if (statements.size < 1000) statements.set(text, statement);
    }
    return statement;
  };
};

const longestStretchMs = 20;

/**
 * SQLite answers at once, so that all who wait for it would follow each other without a turn of the event loop: a
 * burst of two hundred forms held up everybody for most of a second.
 */
const breathing = (): Breathe => {
  let turnedAt = 0;
  let turning: Promise<void> | undefined;
  const turn = async () => {
    await nextTurn();
    turnedAt = performance.now();
    turning = undefined;
  };
  return async (work) => {
    // Asked again: of all who waited for this turn, the first may have used it up.
    while (performance.now() - turnedAt >= longestStretchMs) await (turning ??= turn());
    return work();
  };
};

class SqliteFileDialect extends SqliteDialect {
  readonly #file: SqliteFile;

  constructor(file: SqliteFile) {
    super({ database: neverOpened });
    this.#file = file;
  }

  /** SQLite keeps nothing of a migration that was cut off; Kysely takes the careful view that it might. */
  override createAdapter(): SqliteAdapter {
    return new (class extends SqliteAdapter {
      override get supportsTransactionalDdl(): boolean {
        return true;
      }

      /** One connection writes and one reads: `SqliteWriters` keeps the order. */
      override get supportsMultipleConnections(): boolean {
        return true;
      }
    })();
  }

  override createDriver(): Driver {
    return new SqliteFileDriver(this.#file);
  }
}

const neverOpened = (): never => {
  throw new Error('the driver has the file');
};
