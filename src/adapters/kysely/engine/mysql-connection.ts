import type { FieldPacket, PoolConnection, QueryError, RowDataPacket } from 'mysql2';
import { type Deadline, OutOfTime } from '../../../kernel/ports.ts';
import { failureOf } from './failure.ts';

export interface Statement {
  readonly sql: string;
  readonly parameters: readonly unknown[];
}

export interface QueryLimits {
  readonly queryMs: number;
  readonly deadline: Pick<Deadline, 'leftMs'>;
}

const word = (sql: string): Statement => ({ sql, parameters: [] });
export const begin = word('begin');
export const commit = word('commit');
export const rollback = word('rollback');
/** Some releases return a word instead of a number. */
const askReadOnly = word('select @@global.read_only as readOnly');

const freshMs = 1_000;

const asTextInstead = [1461, 1243, 1615];

type Answered = (error: QueryError | null, answer?: unknown, fields?: unknown) => void;

/**
 * Gives each packet a deadline. Closes a connection that broke, was late or has an open transaction, because the next
 * BEGIN would commit that transaction (MySQL 8 manual, 15.3.3).
 */
export class GuardedConnection {
  readonly #connection: PoolConnection;
  readonly #limits: QueryLimits;
  #isBroken = false;
  #isInTransaction = false;
  #askedAt = performance.now();

  constructor(connection: PoolConnection, limits: QueryLimits) {
    this.#connection = connection;
    this.#limits = limits;
    for (const event of ['error', 'end']) connection.on(event, () => (this.#isBroken = true));
  }

  /** Checks that the server accepts writes: after a fail-over it may be a stale replica. */
  async leadsToPrimary(): Promise<boolean> {
    if (performance.now() - this.#askedAt <= freshMs) return true;
    const [row] = (await this.send([askReadOnly], Infinity)) as { readonly readOnly: unknown }[];
    this.#askedAt = performance.now();
    return ['0', 'OFF'].includes(String(row?.readOnly));
  }

  /** Sends all statements in one packet. The server stops at the first error. @returns the last answer */
  async send(
    statements: readonly Statement[],
    leftMs = this.#limits.deadline.leftMs,
  ): Promise<unknown> {
    // Set before sending, because a lost packet may have been executed.
    if (statements.includes(begin)) this.#isInTransaction = true;
    const sql = statements.map((one) => one.sql).join('; ');
    const values = statements.flatMap(({ parameters }) => parameters) as string[];
    const answer = await this.#ask(leftMs, statements.length, (answered) => {
      this.#connection.query({ sql, values }, answered);
    });
    const last = statements.at(-1);
    if (last === commit || last === rollback) this.#isInTransaction = false;
    return answer;
  }

  /** Prepares the statement. Sends text if the server has no room (`max_prepared_stmt_count`) or has forgotten it. */
  async execute({ sql, parameters }: Statement): Promise<unknown[]> {
    try {
      const { leftMs } = this.#limits.deadline;
      const answer = await this.#ask(leftMs, 1, (answered) => {
        this.#connection.execute(sql, parameters as string[], answered);
      });
      return answer as unknown[];
    } catch (error) {
      if (!asTextInstead.includes((error as QueryError).errno ?? 0)) throw error;
      this.#connection.unprepare(sql);
      return (await this.send([{ sql, parameters }])) as unknown[];
    }
  }

  giveBack(): void {
    if (this.#isBroken || this.#isInTransaction) this.destroy();
    else this.#connection.release();
  }

  destroy(): void {
    this.#isBroken = true;
    this.#connection.destroy();
  }

  #ask(leftMs: number, count: number, ask: (answered: Answered) => void): Promise<unknown> {
    if (this.#isBroken) return Promise.reject(brokenConnection());
    if (leftMs === 0) return Promise.reject(new OutOfTime('The database'));
    const { queryMs } = this.#limits;
    return inTime({
      ms: Math.min(queryMs, leftMs),
      begin: (settle) => {
        ask((error, answer, fields) => {
          if (error && failureOf(error) === 'unavailable') this.#isBroken = true;
          settle(error, error ? undefined : lastOf(answer, fields, count));
        });
      },
      late: () => {
        this.destroy();
        return leftMs < queryMs ? new OutOfTime('The database') : brokenConnection();
      },
    });
  }
}

const lastOf = (answer: unknown, fields: unknown, count: number): unknown => {
  const isList = count > 1 && Array.isArray(answer);
  const last: unknown = isList ? answer.at(-1) : answer;
  const columns: unknown = isList && Array.isArray(fields) ? fields.at(-1) : fields;
  if (!Array.isArray(last) || !Array.isArray(columns)) return last;
  return withBigints(last as Record<string, unknown>[], columns as FieldPacket[]);
};

/** LONGLONG of the client/server protocol. */
const int64 = 8;

/** Converts int64 columns to bigint. mysql2 returns them as numbers, or as text beyond 2^53. */
const withBigints = (rows: Record<string, unknown>[], columns: readonly FieldPacket[]) => {
  for (const { name, columnType } of columns) {
    if (columnType !== int64) continue;
    for (const row of rows) {
      const value = row[name];
      if (value !== null) row[name] = BigInt(value as string | number);
    }
  }
  return rows;
};

const brokenConnection = () =>
  coded('POOL_BROKEN', 'the connection broke, or did not answer in time');

interface Timed<T> {
  readonly ms: number;
  readonly begin: (settle: (error: Error | null, value?: T) => void) => unknown;
  /** @returns the error for the caller */
  readonly late: () => Error;
}

export const inTime = <T>({ ms, begin, late }: Timed<T>): Promise<T> =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      reject(late());
    }, ms);
    timer.unref();
    begin((error, value) => {
      clearTimeout(timer);
      if (error) reject(error);
      else resolve(value as T);
    });
  });

export const coded = (code: string, message: string): Error =>
  Object.assign(new Error(message), { code });

const sqlMode = [
  ...['STRICT_ALL_TABLES', 'NO_ZERO_DATE', 'NO_ZERO_IN_DATE'],
  ...['ERROR_FOR_DIVISION_BY_ZERO', 'NO_ENGINE_SUBSTITUTION'],
];

export interface LockSeconds {
  readonly row: number;
  readonly table: number;
}

/** With the default of 8 hours, locks of a lost client would stay. */
const silentSeconds = 60;

/** MySQL and MariaDB may have different names for a variable. */
const wanted = (lockSeconds: LockSeconds): readonly (readonly [names: string, value: string])[] => [
  ['character_set_client', 'utf8mb4'],
  ['character_set_connection', 'utf8mb4'],
  ['character_set_results', 'utf8mb4'],
  ['collation_connection', 'utf8mb4_bin'],
  ['autocommit', 'ON'],
  ['time_zone', '+00:00'],
  ['innodb_lock_wait_timeout', String(lockSeconds.row)],
  ['lock_wait_timeout', String(lockSeconds.table)],
  ['wait_timeout', String(silentSeconds)],
  ['sql_mode', sqlMode.join()],
  ['foreign_key_checks', 'ON'],
  ['unique_checks', 'ON'],
  ['completion_type', 'NO_CHAIN'],
  ['sql_safe_updates', 'OFF'],
  ['sql_select_limit', '18446744073709551615'],
  ['transaction_isolation|tx_isolation', 'READ-COMMITTED'],
  ['transaction_read_only|tx_read_only', 'OFF'],
];

/** `set transaction` and the timeout need separate statements. */
const statements = (lockSeconds: LockSeconds): readonly string[] => {
  const rest = wanted(lockSeconds).filter(
    ([name]) => name !== 'wait_timeout' && !name.includes('|'),
  );
  const assigned = rest.map(([name, value]) =>
    /^\d+$/.test(value) ? `${name} = ${value}` : `${name} = '${value}'`,
  );
  return [
    'set session transaction isolation level read committed, read write',
    `set wait_timeout = ${String(silentSeconds)}`,
    `set ${assigned.join(', ')}`,
  ];
};

/** Sets and verifies session variables in one packet. @throws Error `SESSION_REFUSED` with the refused variables */
export const prepareSession = async (
  connection: GuardedConnection,
  lockSeconds: LockSeconds,
): Promise<void> => {
  const expected = wanted(lockSeconds);
  const names = expected.flatMap(([either]) => either.split('|'));
  const settings = statements(lockSeconds).map((sql) => ({ sql, parameters: [] }));
  const look = {
    sql: `show session variables where variable_name in (${names.map(() => '?').join()})`,
    parameters: names,
  };
  let rows: unknown;
  try {
    rows = await connection.send([...settings, look], Infinity);
  } catch (error) {
    throw failureOf(error) === 'unavailable' ? error : sessionRefused((error as Error).message);
  }
  const fault = faultOf(rows as RowDataPacket[], expected);
  if (fault) throw fault;
};

const sessionRefused = (why: string): Error =>
  coded('SESSION_REFUSED', `the server does not let this user set its session: ${why}`);

const faultOf = (
  rows: readonly RowDataPacket[],
  expected: ReturnType<typeof wanted>,
): Error | undefined => {
  const values = new Map(rows.map((row) => [row['Variable_name'], String(row['Value'])]));
  const faults = expected.flatMap(([either, right]) => {
    const value = either
      .split('|')
      .map((name) => values.get(name))
      .find((one) => one !== undefined);
    const isRight = value !== undefined && inOneOrder(value) === inOneOrder(right);
    return isRight ? [] : [`${either} is "${value ?? ''}" and has to be "${right}"`];
  });
  return faults.length === 0 ? undefined : sessionRefused(faults.join('; '));
};

/** Servers return the words of `sql_mode` in any order. */
const inOneOrder = (value: string): string => value.split(',').sort().join();
