import type { CompiledQuery, DatabaseConnection, Driver, QueryResult } from 'kysely';
import type { ResultSetHeader } from 'mysql2';
import { begin, commit, rollback, type Statement } from './mysql-connection.ts';
import { giveBack, type Held, type MysqlPool } from './mysql-pool.ts';
import { tablesOf } from './statement-tables.ts';
import { goesWithNext } from './with-next.ts';

/** Where a place in the pool is taken with the first statement: only that tells which tables it is for. */
class LateConnection implements DatabaseConnection {
  readonly #pool: MysqlPool;
  #held: Held | undefined;
  #isInTransaction = false;
  /** What nobody waits for the answer of. Sent with the next statement. */
  #ahead: Statement[] = [];

  constructor(pool: MysqlPool) {
    this.#pool = pool;
  }

  async executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
    if (this.#isInTransaction && goesWithNext(query)) {
      this.#ahead.push(query);
      this.#held?.share.touch(tablesOf(query.query));
      return { rows: [] };
    }
    const tables = tablesOf(query.query);
    this.#held ??= await this.#pool.take(tables);
    this.#held.share.touch(tables);
    return resultFrom<Row>(await this.#held.connection.send([...this.#takeAhead(), query]));
  }

  begin(): void {
    this.#isInTransaction = true;
    this.#ahead = [begin];
  }

  /** Where nothing was asked there is nothing to end. */
  async commit(): Promise<void> {
    const ahead = this.#takeAhead();
    if (ahead.length === 1 && ahead[0] === begin) return;
    this.#held ??= await this.#pool.take([]);
    await this.#held.connection.send([...ahead, commit]);
  }

  /** Never rejects: that would hide what led to it. Where it cannot be done the connection is closed, which does it. */
  async rollback(): Promise<void> {
    this.#ahead = [];
    await this.#held?.connection.send([rollback]).catch(() => undefined);
  }

  release(): void {
    if (this.#held) giveBack(this.#held);
    this.#held = undefined;
  }

  // eslint-disable-next-line require-yield -- of the interface; nothing here streams
  async *streamQuery(): AsyncIterableIterator<never> {
    await Promise.reject(new Error('nothing is streamed from MySQL'));
  }

  #takeAhead(): Statement[] {
    const ahead = this.#ahead;
    this.#ahead = [];
    return ahead;
  }
}

/** BEGIN takes no round trip of its own, nor does what nobody waits for the answer of. */
export class MysqlDriver implements Driver {
  readonly #pool: MysqlPool;

  constructor(pool: MysqlPool) {
    this.#pool = pool;
  }

  async init(): Promise<void> {
    // The pool opens connections when they are needed.
  }

  acquireConnection(): Promise<LateConnection> {
    return Promise.resolve(new LateConnection(this.#pool));
  }

  beginTransaction(connection: LateConnection): Promise<void> {
    connection.begin();
    return Promise.resolve();
  }

  commitTransaction(connection: LateConnection): Promise<void> {
    return connection.commit();
  }

  rollbackTransaction(connection: LateConnection): Promise<void> {
    return connection.rollback();
  }

  releaseConnection(connection: LateConnection): Promise<void> {
    connection.release();
    return Promise.resolve();
  }

  destroy(): Promise<void> {
    return this.#pool.close();
  }
}

const resultFrom = <Row>(answer: unknown): QueryResult<Row> => {
  if (Array.isArray(answer)) return { rows: answer as Row[] };
  const { insertId, affectedRows } = answer as ResultSetHeader;
  // An id beyond 2^53 comes as text.
  const id = BigInt(insertId);
  return {
    ...(id !== 0n && { insertId: id }),
    numAffectedRows: BigInt(affectedRows),
    rows: [],
  };
};
