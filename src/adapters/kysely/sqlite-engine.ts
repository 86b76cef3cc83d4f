import { chmodSync, closeSync, existsSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import SqliteDatabase from 'better-sqlite3';
import {
  CompiledQuery,
  SqliteAdapter,
  SqliteDialect,
  SqliteDriver,
  type DatabaseConnection,
  type Driver,
} from 'kysely';
import type { Engine } from './engine.ts';

/** Every commit is on the disk before it is acknowledged (WAL, synchronous=FULL). */
export const openSqlite = (path: string, patient: boolean): Engine => {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  keepToOurselves(path);
  const file = new SqliteDatabase(path, { timeout: patient ? 60_000 : 2000 });
  switchToWal(file);
  file.pragma('synchronous = FULL');
  file.pragma('foreign_keys = ON');
  file.defaultSafeIntegers(true);
  const reader = new SqliteDatabase(path, { timeout: 2000, readonly: true });
  reader.defaultSafeIntegers(true);
  const read = keepStatements(reader);
  const database = {
    prepare: keepStatements(file),
    close: () => {
      reader.close();
      file.close();
    },
  };
  return {
    kind: 'sqlite',
    dialect: new WriterFirstSqliteDialect({ database }, () => file.inTransaction),
    readCommitted: (text, parameters) => read(text).all(parameters),
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

/** SQLite does not wait for its timeout here: a second process that starts in the same moment is refused at once. */
const switchToWal = (file: SqliteDatabase.Database): void => {
  for (let tries = 1; ; tries++) {
    try {
      file.pragma('journal_mode = WAL');
      return;
    } catch (error) {
      if ((error as { code?: unknown }).code !== 'SQLITE_BUSY' || tries === 100) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20);
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
 * burst of two hundred forms held up everybody for most of a second. @returns lets the loop turn if it is time
 */
const breathing = (): (() => Promise<void>) => {
  let turnedAt = 0;
  return async () => {
    if (performance.now() - turnedAt < longestStretchMs) return;
    await nextTurn();
    turnedAt = performance.now();
  };
};

type SqliteConfig = ConstructorParameters<typeof SqliteDriver>[0];

/**
 * Takes the write lock at BEGIN: a transaction that reads first and writes later can otherwise fail for good
 * when another process wrote in between. A rollback after SQLite itself rolled back (disk full) is no error.
 */
class WriterFirstSqliteDialect extends SqliteDialect {
  readonly #config: SqliteConfig;
  readonly #inTransaction: () => boolean;

  constructor(config: SqliteConfig, inTransaction: () => boolean) {
    super(config);
    this.#config = config;
    this.#inTransaction = inTransaction;
  }

  /** SQLite keeps nothing of a migration that was cut off; Kysely takes the careful view that it might. */
  override createAdapter(): SqliteAdapter {
    return new (class extends SqliteAdapter {
      override get supportsTransactionalDdl(): boolean {
        return true;
      }
    })();
  }

  override createDriver(): Driver {
    const inTransaction = this.#inTransaction;
    const breathe = breathing();
    return new (class extends SqliteDriver {
      override async acquireConnection(): Promise<DatabaseConnection> {
        const connection = await super.acquireConnection();
        await breathe();
        return connection;
      }

      override async beginTransaction(connection: DatabaseConnection): Promise<void> {
        await connection.executeQuery(CompiledQuery.raw('begin immediate'));
      }

      override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
        if (inTransaction()) await super.rollbackTransaction(connection);
      }
    })(this.#config);
  }
}
