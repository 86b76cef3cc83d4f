import type SqliteDatabase from 'better-sqlite3';
import type { CompiledQuery, DatabaseConnection, Driver, QueryResult } from 'kysely';
import { givingUpAfter, pastOtherPrograms } from './sqlite-lock.ts';
import type { SqliteGroup } from './sqlite-group.ts';
import type { Patience } from './sqlite-writers.ts';

/** An open file; readers never wait for writers. */
export interface SqliteFile {
  /** Prepared once, on the connection that can only read. */
  readonly reader: (text: string) => SqliteDatabase.Statement;
  readonly writer: (text: string) => SqliteDatabase.Statement;
  /** What is being written. */
  readonly group: SqliteGroup;
  /** Runs something that blocks the process, after a turn of the event loop if it is time for one. */
  readonly breathe: <T>(work: () => Promise<T>) => Promise<T>;
  /** How long the current call waits. */
  readonly patience: () => Patience;
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

  commitTransaction(session: Session): Promise<void> {
    return session.commit();
  }

  rollbackTransaction(session: Session): Promise<void> {
    return session.rollBack();
  }

  releaseConnection(session: Session): Promise<void> {
    return session.rollBack();
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
  /** Then a statement would be stored on its own. */
  #isOver = false;

  constructor(file: SqliteFile) {
    this.#file = file;
  }

  async executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
    const { reader, breathe, patience } = this.#file;
    if (this.#isWriter) return this.#write<R>(sql, parameters);
    if (this.#isOver) throw new Error('the transaction is over');
    const reading = reader(sql);
    if (reading.readonly) {
      const read = () => resultOf<R>(reading, parameters);
      return breathe(() => pastOtherPrograms(read, givingUpAfter(patience().lockMs)));
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

  /** In one piece. */
  async *streamQuery<R>(query: CompiledQuery): AsyncIterableIterator<QueryResult<R>> {
    yield await this.executeQuery<R>(query);
  }

  /**
   * Takes the write lock at once: a transaction that reads first and writes later can otherwise fail for good when
   * another process wrote in between.
   */
  async begin(): Promise<void> {
    const { group, patience } = this.#file;
    await group.begin(patience());
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
