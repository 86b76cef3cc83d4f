import type SqliteDatabase from 'better-sqlite3';
import type { CompiledQuery, DatabaseConnection, Driver, QueryResult } from 'kysely';
import { givingUpAfter, pastOtherPrograms } from './sqlite-lock.ts';
import type { Breathe, Patience, SqliteWriters } from './sqlite-writers.ts';

/** An open file; readers never wait for writers. */
export interface SqliteFile {
  /** Prepared once, on the connection that can only read. */
  readonly reader: (text: string) => SqliteDatabase.Statement;
  readonly writer: (text: string) => SqliteDatabase.Statement;
  readonly writers: SqliteWriters;
  readonly breathe: Breathe;
  /** How long the current call waits. */
  readonly patience: () => Patience;
  isInTransaction(): boolean;
  /** Before the first query. @throws an error with code `SQLITE_BUSY` while another program holds a lock */
  prepare(): void;
  close(): void;
}

/** Every write waits its turn, both transactions and single statements. Reads never wait. */
export class SqliteFileDriver implements Driver {
  readonly #file: SqliteFile;

  constructor(file: SqliteFile) {
    this.#file = file;
  }

  async init(): Promise<void> {
    const { prepare, patience } = this.#file;
    await pastOtherPrograms(prepare, givingUpAfter(patience().lockMs));
  }

  acquireConnection(): Promise<Session> {
    return Promise.resolve(new Session(this.#file));
  }

  beginTransaction(session: Session): Promise<void> {
    return session.begin();
  }

  async commitTransaction(session: Session): Promise<void> {
    session.commit();
    return Promise.resolve();
  }

  async rollbackTransaction(session: Session): Promise<void> {
    session.rollBack();
    return Promise.resolve();
  }

  async releaseConnection(session: Session): Promise<void> {
    session.rollBack();
    return Promise.resolve();
  }

  destroy(): Promise<void> {
    this.#file.close();
    return Promise.resolve();
  }
}

/** One caller's use of the file, from acquiring a connection to releasing it. */
class Session implements DatabaseConnection {
  readonly #file: SqliteFile;
  #isWriter = false;

  constructor(file: SqliteFile) {
    this.#file = file;
  }

  async executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
    const { reader, writer, writers, breathe, patience } = this.#file;
    if (this.#isWriter) return this.#inTransaction<R>(sql, parameters);
    const reading = reader(sql);
    if (reading.readonly) {
      const read = () => resultOf<R>(reading, parameters);
      return breathe(() => pastOtherPrograms(read, givingUpAfter(patience().lockMs)));
    }
    const result = await writers.enter(() => resultOf<R>(writer(sql), parameters), patience());
    writers.leave();
    return result;
  }

  /** In one piece. */
  async *streamQuery<R>(query: CompiledQuery): AsyncIterableIterator<QueryResult<R>> {
    yield await this.executeQuery<R>(query);
  }

  /**
   * Takes the write lock at once: a transaction that reads first and writes later can otherwise fail for good when
   * another process wrote in between.
   */
  async begin(): Promise<void> {
    const { writer, writers, patience } = this.#file;
    await writers.enter(() => writer('begin immediate').run(), patience());
    this.#isWriter = true;
  }

  commit(): void {
    this.#inTransaction('commit', []);
    this.#end();
  }

  /** It is no error if SQLite has rolled back by itself, as on a full disk. */
  rollBack(): void {
    if (!this.#isWriter) return;
    try {
      if (this.#file.isInTransaction()) this.#file.writer('rollback').run();
    } finally {
      this.#end();
    }
  }

  /** After a rollback by SQLite itself, a statement would be committed on its own. */
  #inTransaction<R>(sql: string, parameters: readonly unknown[]): QueryResult<R> {
    if (!this.#file.isInTransaction()) throw rolledBack();
    return resultOf<R>(this.#file.writer(sql), parameters);
  }

  #end(): void {
    this.#isWriter = false;
    this.#file.writers.leave();
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

const rolledBack = (): Error =>
  Object.assign(new Error('SQLite rolled the transaction back'), { code: 'SQLITE_ABORT_ROLLBACK' });
