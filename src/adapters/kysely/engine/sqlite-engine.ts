import { chmodSync, closeSync, existsSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import SqliteDatabase from 'better-sqlite3';
import {
  SqliteAdapter,
  SqliteIntrospector,
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type QueryResult,
} from 'kysely';
import { LRUCache } from 'lru-cache';
import type { Deadline } from '../../../kernel/ports.ts';
import type { Connections } from './connections.ts';
import { PaddedListsCompiler } from './statements.ts';
import {
  givingUpAfter,
  pastOtherPrograms,
  SqliteGroup,
  SqliteWriters,
  type WaitLimits,
} from './sqlite-group.ts';

/** How long we wait for another program's lock on the file. */
const lockLimitsMs = { usual: 2000, patient: 60_000 };

interface SqliteFile {
  readonly reader: (text: string) => SqliteDatabase.Statement;
  readonly writer: (text: string) => SqliteDatabase.Statement;
  readonly group: SqliteGroup;
  readonly breathe: <T>(work: () => Promise<T>) => Promise<T>;
  readonly waitLimits: () => WaitLimits;
  /** @throws `SQLITE_BUSY` while another program holds a lock */
  readonly prepare: () => void;
  close(): void;
}

/** Opens a file whose commits are on disk before they are acknowledged (WAL, synchronous=FULL). */
export const openSqlite = (
  path: string,
  patient: boolean,
  deadline: Pick<Deadline, 'leftMs'>,
): Connections => {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  keepToOurselves(path);
  const limitMs = patient ? lockLimitsMs.patient : lockLimitsMs.usual;
  const waitLimits = (): WaitLimits => {
    const { leftMs } = deadline;
    return { lockMs: Math.min(limitMs, leftMs), leftMs };
  };
  const writers = new SqliteWriters();
  const file = openFile(path, { patient, waitLimits, writers });
  return {
    dialect: dialectOf(file),
    readCommitted: ({ sql, parameters }) =>
      pastOtherPrograms(() => file.reader(sql).all(parameters), givingUpAfter(waitLimits().lockMs)),
    load: () => writers.load(),
    close: () => {
      file.close();
      return Promise.resolve();
    },
  };
};

interface FileTerms {
  readonly patient: boolean;
  readonly waitLimits: () => WaitLimits;
  readonly writers: SqliteWriters;
}

/** Turns SQLite's own lock wait off, because it would block the process. */
const openFile = (path: string, { patient, waitLimits, writers }: FileTerms): SqliteFile => {
  const writer = new SqliteDatabase(path, { timeout: 0 });
  writer.defaultSafeIntegers(true);
  const reader = new SqliteDatabase(path, { timeout: 0, readonly: true });
  reader.defaultSafeIntegers(true);
  const statement = keepStatements(writer);
  const isInTransaction = () => writer.inTransaction;
  const group = new SqliteGroup({ writer: statement, isInTransaction }, writers);
  return {
    reader: keepStatements(reader),
    writer: statement,
    group,
    breathe: breathing(),
    waitLimits,
    prepare: () => {
      writer.pragma('journal_mode = WAL');
      writer.pragma('synchronous = FULL');
      writer.pragma('foreign_keys = ON');
      // Savepoints would be written to a file. Migrations use files, because they may sort more than fits into memory.
      if (!patient) writer.pragma('temp_store = MEMORY');
    },
    close: () => {
      group.settle();
      reader.close();
      writer.close();
    },
  };
};

/** Makes the files private. If another user owns them, `serve` warns. */
const keepToOurselves = (path: string): void => {
  closeSync(openSync(path, 'a', 0o600));
  for (const one of ['', '-wal', '-shm'].map((end) => path + end).filter(existsSync)) {
    try {
      chmodSync(one, 0o600);
    } catch (error) {
      // A companion file may disappear meanwhile.
      const { code } = error as { code?: unknown };
      if (code !== 'EPERM' && code !== 'ENOENT') throw error;
    }
  }
};

const mostStatements = 1000;

const keepStatements = (file: SqliteDatabase.Database) => {
  const statements = new LRUCache<string, SqliteDatabase.Statement>({ max: mostStatements });
  return (text: string): SqliteDatabase.Statement => {
    let statement = statements.get(text);
    if (!statement) {
      statement = file.prepare(text);
      statements.set(text, statement);
    }
    return statement;
  };
};

const longestStretchMs = 20;

/** Gives other work a turn: a burst of two hundred forms once blocked the event loop for most of a second. */
const breathing = (): SqliteFile['breathe'] => {
  let turnedAt = 0;
  let turning: Promise<void> | undefined;
  const turn = async () => {
    await nextTurn();
    turnedAt = performance.now();
    turning = undefined;
  };
  return async (work) => {
    // The first waiter may have used up this turn.
    while (performance.now() - turnedAt >= longestStretchMs) await (turning ??= turn());
    return work();
  };
};

class FileAdapter extends SqliteAdapter {
  /** True, because SQLite rolls back an interrupted migration. */
  override get supportsTransactionalDdl(): boolean {
    return true;
  }

  /** One connection writes and one reads. */
  override get supportsMultipleConnections(): boolean {
    return true;
  }
}

const dialectOf = (file: SqliteFile): Dialect => ({
  createAdapter: () => new FileAdapter(),
  createDriver: (): Driver => ({
    init: () => pastOtherPrograms(file.prepare, givingUpAfter(file.waitLimits().lockMs)),
    acquireConnection: () => Promise.resolve(new Session(file)),
    beginTransaction: (session: Session) => session.begin(),
    commitTransaction: (session: Session) => session.commit(),
    rollbackTransaction: (session: Session) => session.rollBack(),
    releaseConnection: (session: Session) => session.rollBack(),
    destroy: () => {
      file.close();
      return Promise.resolve();
    },
  }),
  createIntrospector: (db) => new SqliteIntrospector(db),
  createQueryCompiler: () => new PaddedListsCompiler(),
});

class Session implements DatabaseConnection {
  readonly #file: SqliteFile;
  #isWriter = false;
  /** Set when the transaction has ended: a further statement would be stored on its own. */
  #isOver = false;

  constructor(file: SqliteFile) {
    this.#file = file;
  }

  async executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
    const { reader, breathe, waitLimits } = this.#file;
    if (this.#isWriter) return this.#write<R>(sql, parameters);
    if (this.#isOver) throw new Error('the transaction is over');
    const reading = reader(sql);
    if (reading.readonly) {
      const read = () => resultOf<R>(reading, parameters);
      return breathe(() => pastOtherPrograms(read, givingUpAfter(waitLimits().lockMs)));
    }
    await this.begin();
    try {
      const result = this.#write<R>(sql, parameters);
      await this.commit();
      return result;
    } catch (error) {
      await this.rollBack();
      throw error;
    }
  }

  async *streamQuery<R>(query: CompiledQuery): AsyncIterableIterator<QueryResult<R>> {
    yield await this.executeQuery<R>(query);
  }

  /** Begins as a writer: a transaction that reads first can fail for good if another process writes in between. */
  async begin(): Promise<void> {
    const { group, waitLimits } = this.#file;
    await group.begin(waitLimits());
    this.#isWriter = true;
  }

  async commit(): Promise<void> {
    const stored = this.#file.group.commit();
    this.#end();
    await stored;
  }

  async rollBack(): Promise<void> {
    if (!this.#isWriter) return;
    this.#end();
    await this.#file.group.rollBack();
  }

  #end(): void {
    this.#isWriter = false;
    this.#isOver = true;
  }

  #write<R>(sql: string, parameters: readonly unknown[]): QueryResult<R> {
    const { group, writer } = this.#file;
    return group.run(() => resultOf<R>(writer(sql), parameters));
  }
}

const resultOf = <R>(
  statement: SqliteDatabase.Statement,
  parameters: readonly unknown[],
): QueryResult<R> => {
  if (statement.reader) return { rows: statement.all(parameters) as R[] };
  const { changes, lastInsertRowid } = statement.run(parameters);
  return { insertId: BigInt(lastInsertRowid), numAffectedRows: BigInt(changes), rows: [] };
};
