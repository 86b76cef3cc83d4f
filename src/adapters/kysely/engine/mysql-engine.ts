import {
  MysqlAdapter,
  MysqlIntrospector,
  MysqlQueryCompiler,
  type Dialect,
  type Driver,
  type CompiledQuery,
  type DatabaseConnection,
  type QueryResult,
} from 'kysely';
import type { PoolOptions, ResultSetHeader } from 'mysql2';
import { minuteMs, hourMs } from '../../../kernel/durations.ts';
import type { Deadline } from '../../../kernel/ports.ts';
import type { Connections } from './connections.ts';
import { MysqlPool, tableOf, type PoolSettings, type HeldConnection } from './mysql-pool.ts';
import { failureOf, type Failure } from './failure.ts';
import { begin, commit, rollback, type Statement } from './mysql-connection.ts';
import { goesWithNext } from './statements.ts';

interface Deadlines extends Pick<PoolSettings, 'acquireMs' | 'queryMs' | 'lockSeconds'> {
  readonly connectMs: number;
}

const usual: Deadlines = {
  connectMs: 2000,
  acquireMs: 3000,
  queryMs: 3000,
  lockSeconds: { row: 2, table: 2 },
};
const patiently: Deadlines = {
  connectMs: minuteMs,
  acquireMs: hourMs,
  queryMs: hourMs,
  lockSeconds: { row: 60, table: 60 * 60 },
};

const limits = { all: 10, reserve: 2, mostWaiting: 1000 };

const options: PoolOptions = {
  connectionLimit: limits.all,
  maxPreparedStatements: 100,
  enableKeepAlive: true,
  charset: 'utf8mb4_bin',
  timezone: 'Z',
  supportBigNumbers: true,
  // Safe, because mysql2 escapes values before statements are joined.
  multipleStatements: true,
};

export const openMysql = (
  url: string,
  patient: boolean,
  deadline: Pick<Deadline, 'leftMs'>,
): Connections => {
  const { connectMs, ...deadlines } = patient ? patiently : usual;
  let pool: Promise<MysqlPool> | undefined;
  let load = () => ({ all: limits.all, busy: 0, waiting: 0 });
  const openPool = async (): Promise<MysqlPool> => {
    // When bundled, a CommonJS package has only its default export.
    const { default: mysql2 } = await import('mysql2');
    const connections = mysql2.createPool({ ...options, uri: url, connectTimeout: connectMs });
    const opened = new MysqlPool(connections, { ...deadlines, limits, deadline });
    load = () => opened.load();
    return opened;
  };
  const open = () => (pool ??= openPool());
  return {
    dialect: dialectOf(open),
    readCommitted: async (query) => (await open()).read(query),
    load: () => load(),
    close: async () => (await pool)?.close(),
  };
};

const done = Promise.resolve();

/** Sends BEGIN, and statements whose answer is not needed, together with the next statement. */
const dialectOf = (open: () => Promise<MysqlPool>): Dialect => ({
  createAdapter: () => new MysqlAdapter(),
  createDriver: (): Driver => ({
    init: () => done,
    acquireConnection: async () => new LazyConnection(await open()),
    beginTransaction: (connection: LazyConnection) => {
      connection.begin();
      return done;
    },
    commitTransaction: (connection: LazyConnection) => connection.commit(),
    rollbackTransaction: (connection: LazyConnection) => connection.rollback(),
    releaseConnection: (connection: LazyConnection) => {
      connection.release();
      return done;
    },
    destroy: () => done,
  }),
  createIntrospector: (db) => new MysqlIntrospector(db),
  createQueryCompiler: () => new MysqlQueryCompiler(),
});

/** Takes a connection with the first statement. */
class LazyConnection implements DatabaseConnection {
  readonly #pool: MysqlPool;
  #held: HeldConnection | undefined;
  #isInTransaction = false;
  /** Set when the transaction has ended: a further statement would be committed on its own. */
  #over: (() => Error) | undefined;
  #ahead: Statement[] = [];

  constructor(pool: MysqlPool) {
    this.#pool = pool;
  }

  async executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
    this.#refuseIfOver();
    if (this.#isInTransaction && goesWithNext(query)) {
      this.#ahead.push(query);
      return { rows: [] };
    }
    const { slot, connection } = await this.#hold(query);
    const statements = [...this.#takeAhead(), query];
    for (const one of statements) slot.add(tableOf(one));
    try {
      return resultFrom<Row>(await connection.send(statements));
    } catch (error) {
      this.#noteUndone(error);
      throw error;
    }
  }

  begin(): void {
    this.#isInTransaction = true;
    this.#over = undefined;
    this.#ahead = [begin];
  }

  async commit(): Promise<void> {
    this.#refuseIfOver();
    const ahead = this.#takeAhead();
    if (ahead.length === 1 && ahead[0] === begin) return;
    const { connection } = await this.#hold(commit);
    this.#over = ended;
    await connection.send([...ahead, commit]);
  }

  /** Never rejects, so that the original error is kept. If it fails, closing the connection rolls back. */
  async rollback(): Promise<void> {
    this.#over = ended;
    this.#ahead = [];
    await this.#held?.connection.send([rollback]).catch(() => undefined);
  }

  release(): void {
    this.#over = ended;
    if (this.#held) this.#pool.giveBack(this.#held);
    this.#held = undefined;
  }

  streamQuery(): never {
    throw new Error('nothing is streamed from MySQL');
  }

  async #hold(first: Statement): Promise<HeldConnection> {
    if (this.#held) return this.#held;
    const held = await this.#pool.take(first);
    if (this.#over) this.#pool.giveBack(held);
    this.#refuseIfOver();
    this.#held = held;
    return held;
  }

  #noteUndone(error: unknown): void {
    const mayBeUndone = this.#isInTransaction && undoing.includes(failureOf(error));
    if (mayBeUndone && error instanceof Error) this.#over ??= () => error;
  }

  #refuseIfOver(): void {
    if (this.#over) throw this.#over();
  }

  #takeAhead(): Statement[] {
    const ahead = this.#ahead;
    this.#ahead = [];
    return ahead;
  }
}

const undoing: readonly Failure[] = ['conflict', 'lock_timeout'];

const ended = (): Error => new Error('the transaction is over');

const resultFrom = <Row>(answer: unknown): QueryResult<Row> => {
  if (Array.isArray(answer)) return { rows: answer as Row[] };
  const { insertId, affectedRows } = answer as ResultSetHeader;
  const id = BigInt(insertId);
  return {
    ...(id !== 0n && { insertId: id }),
    numAffectedRows: BigInt(affectedRows),
    rows: [],
  };
};
