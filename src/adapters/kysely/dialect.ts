import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import SqliteDatabase from 'better-sqlite3';
import {
  CompiledQuery,
  MysqlDialect,
  SqliteAdapter,
  SqliteDialect,
  SqliteDriver,
  type DatabaseConnection,
  type Dialect,
  type Driver,
} from 'kysely';
import {
  createPool,
  type Pool,
  type PoolConnection,
  type TypeCastField,
  type TypeCastNext,
} from 'mysql2';

/** The one place that knows how the two databases differ at run time. */
export interface Engine {
  readonly kind: 'sqlite' | 'mysql';
  readonly dialect: Dialect;
  /**
   * Runs a compiled query outside any transaction at once, on what is committed. SQLite only: it answers in
   * the same turn, without waiting for a transaction that is open on the other connection.
   */
  readonly readCommitted?: (text: string, parameters: readonly unknown[]) => unknown[];
}

/**
 * @param url `sqlite:PATH`, or `mysql://user:password@host:port/name`
 * @param patient no deadline for a query: migrations may take long
 */
export const openEngine = (url: string, patient: boolean): Engine =>
  url.startsWith('sqlite:')
    ? { kind: 'sqlite', ...sqlite(url.slice('sqlite:'.length), patient) }
    : { kind: 'mysql', dialect: mysql(url, patient) };

/** What went wrong, in words that both databases share. */
export type Failure =
  'unavailable' | 'duplicate' | 'missing_parent' | 'conflict' | 'lock_timeout' | 'other';

export const failureOf = (error: unknown): Failure => {
  const { code, fatal } = (error ?? {}) as { readonly code?: unknown; readonly fatal?: unknown };
  // mysql2 has no code for "the connection is closed already".
  if (typeof code !== 'string') return fatal === true ? 'unavailable' : 'other';
  if (code in failures) return failures[code] ?? 'other';
  return unavailableCode.test(code) ? 'unavailable' : 'other';
};

const failures: Readonly<Record<string, Failure>> = {
  SQLITE_CONSTRAINT_UNIQUE: 'duplicate',
  SQLITE_CONSTRAINT_PRIMARYKEY: 'duplicate',
  SQLITE_CONSTRAINT_FOREIGNKEY: 'missing_parent',
  ER_DUP_ENTRY: 'duplicate',
  ER_NO_REFERENCED_ROW: 'missing_parent',
  ER_NO_REFERENCED_ROW_2: 'missing_parent',
  ER_LOCK_DEADLOCK: 'conflict',
  ER_LOCK_WAIT_TIMEOUT: 'lock_timeout',
};

const unavailableCode = new RegExp(
  '^(SQLITE_(BUSY|LOCKED|FULL|IOERR|CANTOPEN|READONLY)|PROTOCOL_|POOL_|ECONN|ETIMEDOUT|EPIPE|EHOSTUNREACH|' +
    'ENETUNREACH|ENOTFOUND|EAI_AGAIN|ER_CON_COUNT|ER_TOO_MANY_USER_CONNECTIONS|ER_SERVER_SHUTDOWN|' +
    'ER_CONNECTION_KILLED|ER_QUERY_INTERRUPTED|ER_ACCESS_DENIED|ER_BAD_DB|ER_OPTION_PREVENTS_STATEMENT|' +
    'ER_NORMAL_SHUTDOWN|ER_DISK_FULL|ER_RECORD_FILE_FULL)',
);

const sqlite = (path: string, patient: boolean): Omit<Engine, 'kind'> => {
  mkdirSync(dirname(path), { recursive: true });
  const file = new SqliteDatabase(path, { timeout: patient ? 60_000 : 2000 });
  file.pragma('journal_mode = WAL');
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
    dialect: new WriterFirstSqliteDialect({ database }, () => file.inTransaction),
    readCommitted: (text, parameters) => read(text).all(parameters),
  };
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
    return new (class extends SqliteDriver {
      override async beginTransaction(connection: DatabaseConnection): Promise<void> {
        await connection.executeQuery(CompiledQuery.raw('begin immediate'));
      }

      override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
        if (inTransaction()) await super.rollbackTransaction(connection);
      }
    })(this.#config);
  }
}

const acquireTimeoutMs = 2000;
const queryTimeoutMs = 3000;
const session = [
  'set session transaction isolation level read committed',
  "set session time_zone = '+00:00', innodb_lock_wait_timeout = 3, sql_mode = 'STRICT_ALL_TABLES," +
    "NO_ZERO_DATE,NO_ZERO_IN_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION'",
];

const mysql = (url: string, patient: boolean): Dialect => {
  const pool = createPool({
    uri: url,
    connectionLimit: 10,
    maxIdle: 10,
    queueLimit: 1000,
    connectTimeout: 2000,
    enableKeepAlive: true,
    charset: 'utf8mb4_bin',
    timezone: 'Z',
    supportBigNumbers: true,
    bigNumberStrings: true,
    typeCast: exactIntegers,
  });
  return new MysqlDialect({
    pool: {
      getConnection: (done) => {
        acquire(pool, (error, connection) => {
          // Kysely's type has no "connection or error"; on an error it reads the error only.
          done(error, (connection && guarded(connection, patient)) as never);
        });
      },
      end: (done) => {
        pool.end(done);
      },
    },
  });
};

/** mysql2 lets borrowers wait for ever while the server is silent; here the wait has a deadline. */
const acquire = (
  pool: Pool,
  done: (error: unknown, connection: PoolConnection | undefined) => void,
): void => {
  let waiting = true;
  const timer = setTimeout(() => {
    waiting = false;
    done(
      Object.assign(new Error('no free connection in time'), { code: 'POOL_TIMEOUT' }),
      undefined,
    );
  }, acquireTimeoutMs);
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
 * Gives each query a deadline. A connection whose query ran into it, or that broke, is thrown away:
 * put back into the pool it would hang the next borrower.
 */
const guarded = (connection: PoolConnection, patient: boolean): GuardedConnection => {
  const known = guards.get(connection);
  if (known) return known;
  let broken = false;
  const deadline = patient ? {} : { timeout: queryTimeoutMs };
  for (const statement of session) {
    connection.query(statement, (error) => {
      if (error) broken = true;
    });
  }
  const guard: GuardedConnection = {
    threadId: connection.threadId,
    query: (sql, values, done) => {
      if (broken) {
        done(Object.assign(new Error('the connection broke'), { code: 'POOL_BROKEN' }), undefined);
        return;
      }
      connection.query({ sql, values, ...deadline }, (error, result) => {
        if (error && failureOf(error) === 'unavailable') broken = true;
        done(error, result);
      });
    },
    release: () => {
      if (broken) connection.destroy();
      else connection.release();
    },
  };
  guards.set(connection, guard);
  return guard;
};
