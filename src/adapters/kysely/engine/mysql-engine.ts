import { MysqlAdapter, MysqlIntrospector, MysqlQueryCompiler, type Dialect } from 'kysely';
import type { TypeCastField, TypeCastNext } from 'mysql2';
import type { Deadline } from '../../../kernel/deadline.ts';
import type { Connections } from './connections.ts';
import { MysqlDriver } from './mysql-driver.ts';
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

export const openMysql = (
  url: string,
  patient: boolean,
  deadline: Pick<Deadline, 'leftMs'>,
): Connections => {
  const { connectMs, ...deadlines } = patient ? patiently : usual;
  const open = async (): Promise<MysqlPool> => {
    const { createPool } = await import('mysql2');
    const pool = createPool({
      uri: url,
      connectionLimit: limits.all,
      maxIdle: limits.all,
      connectTimeout: connectMs,
      enableKeepAlive: true,
      charset: 'utf8mb4_bin',
      timezone: 'Z',
      supportBigNumbers: true,
      bigNumberStrings: true,
      // Values are escaped by mysql2 before statements are joined, as they are in single ones.
      multipleStatements: true,
      typeCast: exactIntegers,
    });
    return new MysqlPool(pool, { ...deadlines, limits, deadline });
  };
  const dialect: Dialect = {
    createAdapter: () => new MysqlAdapter(),
    createDriver: () => new MysqlDriver(open),
    createIntrospector: (db) => new MysqlIntrospector(db),
    createQueryCompiler: () => new MysqlQueryCompiler(),
  };
  return { dialect };
};

const exactIntegers = (field: TypeCastField, next: TypeCastNext): unknown => {
  if (field.type !== 'LONGLONG') return next();
  const digits = field.string();
  return digits === null ? null : BigInt(digits);
};
