import { MysqlDialect } from 'kysely';
import {
  createPool,
  type Pool,
  type PoolConnection,
  type TypeCastField,
  type TypeCastNext,
} from 'mysql2';
import type { Deadline } from '../../kernel/deadline.ts';
import type { Engine } from './engine.ts';
import { guardConnection, type GuardedConnection } from './mysql-connection.ts';
import { prepareSession } from './mysql-session.ts';

/** How long is waited for what. */
interface Deadlines {
  readonly connectMs: number;
  readonly acquireMs: number;
  readonly queryMs: number;
  readonly lockSeconds: number;
  /** Never longer than this. */
  readonly ofRequest: Pick<Deadline, 'leftMs'>;
}

const usual: Omit<Deadlines, 'ofRequest'> = {
  connectMs: 2000,
  acquireMs: 2000,
  queryMs: 3000,
  lockSeconds: 2,
};
const hourMs = 60 * 60_000;
const patiently: Omit<Deadlines, 'ofRequest'> = {
  connectMs: 60_000,
  acquireMs: hourMs,
  queryMs: hourMs,
  lockSeconds: 60,
};

export const openMysql = (
  url: string,
  patient: boolean,
  deadline: Pick<Deadline, 'leftMs'>,
): Engine => {
  const deadlines = { ...(patient ? patiently : usual), ofRequest: deadline };
  const pool = createPool({
    uri: url,
    connectionLimit: 10,
    maxIdle: 10,
    queueLimit: 1000,
    connectTimeout: deadlines.connectMs,
    enableKeepAlive: true,
    charset: 'utf8mb4_bin',
    timezone: 'Z',
    supportBigNumbers: true,
    bigNumberStrings: true,
    typeCast: exactIntegers,
  });
  const dialect = new MysqlDialect({
    pool: {
      getConnection: (done) => {
        acquire(pool, deadlines, (error, connection) => {
          // Kysely's type has no "connection or error"; on an error it reads the error only.
          if (connection) guarded(connection, deadlines, done as never);
          else done(error, undefined as never);
        });
      },
      end: (done) => {
        pool.end(done);
      },
    },
  });
  return { kind: 'mysql', dialect };
};

/** mysql2 lets borrowers wait for ever while the server is silent; here the wait has a deadline. */
const acquire = (
  pool: Pool,
  { acquireMs, ofRequest }: Deadlines,
  done: (error: unknown, connection: PoolConnection | undefined) => void,
): void => {
  let waiting = true;
  const timer = setTimeout(
    () => {
      waiting = false;
      done(
        Object.assign(new Error('no free connection in time'), { code: 'POOL_TIMEOUT' }),
        undefined,
      );
    },
    Math.min(acquireMs, ofRequest.leftMs),
  );
  pool.getConnection((error, connection) => {
    clearTimeout(timer);
    if (!waiting) {
      if (!error) connection.release();
    } else if (error) {
      // "Queue limit reached." comes without a code.
      done(Object.assign(error, { code: error.code ?? 'POOL_FULL' }), undefined);
    } else {
      done(undefined, connection);
    }
  });
};

const exactIntegers = (field: TypeCastField, next: TypeCastNext): unknown => {
  if (field.type !== 'LONGLONG') return next();
  const digits = field.string();
  return digits === null ? null : BigInt(digits);
};

const guards = new WeakMap<PoolConnection, GuardedConnection>();

/** A new connection is prepared first, within the deadline of a query; one that refuses is not used. */
const guarded = (
  connection: PoolConnection,
  { queryMs, lockSeconds, ofRequest }: Deadlines,
  done: (error: unknown, connection: GuardedConnection | undefined) => void,
): void => {
  const known = guards.get(connection);
  if (known) {
    done(undefined, known);
    return;
  }
  let isWaiting = true;
  const settle = (error: unknown) => {
    if (!isWaiting) return;
    isWaiting = false;
    clearTimeout(timer);
    if (error) {
      connection.destroy();
      done(error, undefined);
      return;
    }
    const guard = guardConnection(connection, queryMs, ofRequest);
    guards.set(connection, guard);
    done(undefined, guard);
  };
  const timer = setTimeout(
    () => {
      const late = new Error('a new connection could not be prepared in time');
      settle(Object.assign(late, { code: 'POOL_TIMEOUT' }));
    },
    Math.min(queryMs, ofRequest.leftMs),
  );
  prepareSession(connection, lockSeconds, settle);
};
