import {
  MysqlAdapter,
  MysqlIntrospector,
  MysqlQueryCompiler,
  type Dialect,
  type Driver,
} from 'kysely';
import type { PoolOptions } from 'mysql2';
import type { Deadline } from '../../../kernel/deadline.ts';
import type { Connections } from './connections.ts';
import { LazyConnection } from './lazy-connection.ts';
import { MysqlPool, type PoolSettings } from './mysql-pool.ts';

/** How long to wait for each resource. */
interface Deadlines extends Pick<PoolSettings, 'acquireMs' | 'queryMs' | 'lockSeconds'> {
  readonly connectMs: number;
}

const usual: Deadlines = {
  connectMs: 2000,
  acquireMs: 3000,
  queryMs: 3000,
  lockSeconds: { row: 2, table: 2 },
};
const [minuteMs, hourMs] = [60_000, 60 * 60_000];
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
  // Beyond 2^53 it is text.
  supportBigNumbers: true,
  // Values are escaped by mysql2 before statements are joined, as they are in single ones.
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
    const { createPool } = await import('mysql2');
    const connections = createPool({ ...options, uri: url, connectTimeout: connectMs });
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

/** BEGIN and statements whose answer is not needed share a round trip with the next statement. */
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
    // `close` ends the pool.
    destroy: () => done,
  }),
  createIntrospector: (db) => new MysqlIntrospector(db),
  createQueryCompiler: () => new MysqlQueryCompiler(),
});
