import { MysqlDialect } from 'kysely';
import {
  createPool,
  type Pool,
  type PoolConnection,
  type TypeCastField,
  type TypeCastNext,
} from 'mysql2';
import type { Engine } from './engine.ts';
import { failureOf } from './failure.ts';

/** How long is waited for what. */
interface Deadlines {
  readonly connectMs: number;
  readonly acquireMs: number;
  readonly queryMs: number;
  readonly lockSeconds: number;
}

const usual: Deadlines = { connectMs: 2000, acquireMs: 2000, queryMs: 3000, lockSeconds: 2 };
const hourMs = 60 * 60_000;
const patiently: Deadlines = {
  connectMs: 60_000,
  acquireMs: hourMs,
  queryMs: hourMs,
  lockSeconds: 60,
};

const session = ({ lockSeconds }: Deadlines): readonly string[] => [
  'set session transaction isolation level read committed',
  `set session time_zone = '+00:00', innodb_lock_wait_timeout = ${lockSeconds}, ` +
    "sql_mode = 'STRICT_ALL_TABLES,NO_ZERO_DATE,NO_ZERO_IN_DATE,ERROR_FOR_DIVISION_BY_ZERO," +
    "NO_ENGINE_SUBSTITUTION'",
];

export const openMysql = (url: string, patient: boolean): Engine => {
  const deadlines = patient ? patiently : usual;
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
          done(error, (connection && guarded(connection, deadlines)) as never);
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
  { acquireMs }: Deadlines,
  done: (error: unknown, connection: PoolConnection | undefined) => void,
): void => {
  let waiting = true;
  const timer = setTimeout(() => {
    waiting = false;
    done(
      Object.assign(new Error('no free connection in time'), { code: 'POOL_TIMEOUT' }),
      undefined,
    );
  }, acquireMs);
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

interface GuardedConnection {
  readonly threadId: number;
  query(text: string, parameters: unknown[], done: (error: unknown, result: unknown) => void): void;
  release(): void;
}

const guards = new WeakMap<PoolConnection, GuardedConnection>();

/**
 * Gives each query a deadline from the moment it is asked for (mysql2's own begins when it is sent). A connection
 * that missed it, or that broke, is thrown away: put back into the pool it would hang the next borrower.
 */
const guarded = (connection: PoolConnection, deadlines: Deadlines): GuardedConnection => {
  const known = guards.get(connection);
  if (known) return known;
  let broken = false;
  const query: GuardedConnection['query'] = (sql, values, done) => {
    if (broken) {
      done(brokenConnection(), undefined);
      return;
    }
    let waiting = true;
    const answer = (error: unknown, result: unknown) => {
      if (!waiting) return;
      waiting = false;
      clearTimeout(timer);
      if (error && failureOf(error) === 'unavailable') broken = true;
      done(error, result);
    };
    const timer = setTimeout(() => {
      connection.destroy();
      answer(brokenConnection(), undefined);
    }, deadlines.queryMs);
    connection.query({ sql, values }, answer);
  };
  for (const statement of session(deadlines)) {
    query(statement, [], (error) => {
      if (error) broken = true;
    });
  }
  const guard: GuardedConnection = {
    threadId: connection.threadId,
    query,
    release: () => {
      if (broken) connection.destroy();
      else connection.release();
    },
  };
  guards.set(connection, guard);
  return guard;
};

const brokenConnection = () =>
  Object.assign(new Error('the connection broke, or did not answer in time'), {
    code: 'POOL_BROKEN',
  });
