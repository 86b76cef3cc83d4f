import type { Connection, FieldPacket } from 'mysql2';
import type { Deadline } from '../../../kernel/deadline.ts';
import { OutOfTime } from '../../../kernel/unavailable.ts';
import { failureOf } from './failure.ts';
import { MysqlStatements, type Answered } from './mysql-statements.ts';
import type { MysqlTimeouts, Timed } from './mysql-timeouts.ts';

export interface Statement {
  readonly sql: string;
  readonly parameters: readonly unknown[];
}

export interface QueryLimits {
  readonly queryMs: number;
  /** No statement may take longer than the time left. */
  readonly deadline: Pick<Deadline, 'leftMs'>;
}

export const [begin, commit, rollback] = ['begin', 'commit', 'rollback'].map((sql) => ({
  sql,
  parameters: [],
})) as unknown as readonly [Statement, Statement, Statement];

/** A number, or in some releases a word. */
const askReadOnly: Statement = { sql: 'select @@global.read_only as readOnly', parameters: [] };

/** How long a connection counts as one to the primary. */
const freshMs = 1_000;

/**
 * A pooled connection. Each packet has a deadline that starts when it is requested (mysql2's starts when it is sent)
 * and never exceeds the request's. Only a working connection without an open transaction returns to the pool, because
 * the next BEGIN would commit the open one (MySQL 8 manual, 15.3.3). A connection that broke, missed a deadline, or
 * failed a packet with COMMIT or ROLLBACK is closed; the server then rolls back.
 */
export class GuardedConnection {
  readonly #connection: Connection;
  readonly #limits: QueryLimits;
  readonly #timeouts: MysqlTimeouts;
  readonly #statements: MysqlStatements;
  /** mysql2 tells nobody who waits for the end of a connection that is destroyed meanwhile. */
  readonly #gone = Promise.withResolvers<undefined>();
  #isBroken = false;
  #isInTransaction = false;
  #askedAt = performance.now();

  constructor(connection: Connection, limits: QueryLimits, timeouts: MysqlTimeouts) {
    this.#connection = connection;
    this.#limits = limits;
    this.#timeouts = timeouts;
    this.#statements = new MysqlStatements(connection);
    // The server may close it while nobody uses it.
    for (const event of ['error', 'end']) connection.on(event, () => (this.#isBroken = true));
  }

  get isUsable(): boolean {
    return !this.#isBroken && !this.#isInTransaction;
  }

  /** Whether nobody has asked for some time whether its server is still the primary. */
  get mayBeStale(): boolean {
    return performance.now() - this.#askedAt > freshMs;
  }

  /**
   * Whether the server takes no writes. After a fail-over it may be a replica, and even one that is no longer told of
   * what is stored; those who only read would never learn it.
   */
  async isReadOnly(): Promise<boolean> {
    this.#askedAt = performance.now();
    const [row] = (await this.send([askReadOnly])) as { readonly readOnly: unknown }[];
    return !['0', 'OFF'].includes(String(row?.readOnly));
  }

  /** It is closed when it is given back. */
  retire(): void {
    this.#isBroken = true;
  }

  /** Sends statements in one packet. MySQL runs them in this order, until one fails. @returns the answer to the last */
  async send(statements: readonly Statement[]): Promise<unknown> {
    this.#refuse();
    // Set before sending, because a lost packet may have been executed.
    if (statements.includes(begin)) this.#isInTransaction = true;
    const last = statements.at(-1);
    const ends = last === commit || last === rollback;
    const sql = statements.map((one) => one.sql).join('; ');
    const values = statements.flatMap(({ parameters }) => parameters) as string[];
    try {
      const answer = await this.#ask((answered) => {
        this.#connection.query({ sql, values }, answered);
      }, statements.length);
      if (ends) this.#isInTransaction = false;
      return answer;
    } catch (error) {
      if (ends) this.#isBroken = true;
      throw error;
    }
  }

  /** Runs a statement that the server parses only the first time. @returns its rows */
  async execute(sql: string, values: readonly unknown[]): Promise<unknown[]> {
    this.#refuse();
    return this.#ask((answered) => {
      this.#statements.execute(sql, values, answered);
    }, 1) as Promise<unknown[]>;
  }

  /** Waits for what is running, at most until that misses its deadline. */
  end(): Promise<unknown> {
    // A connection that breaks while closing counts as closed.
    this.#connection.end(() => {
      this.#gone.resolve(undefined);
    });
    return this.#gone.promise;
  }

  destroy(): void {
    this.#connection.destroy();
    this.#gone.resolve(undefined);
  }

  #refuse(): void {
    if (this.#isBroken) throw brokenConnection();
    if (this.#limits.deadline.leftMs === 0) throw new OutOfTime('The database');
  }

  #ask(ask: (answered: Answered) => void, count: number): Promise<unknown> {
    const { queryMs, deadline } = this.#limits;
    const { leftMs } = deadline;
    return new Promise((resolve, reject) => {
      const timed: Timed = {
        endsAt: performance.now() + Math.min(queryMs, leftMs),
        giveUp: () => {
          this.#isBroken = true;
          this.destroy();
          reject(leftMs < queryMs ? new OutOfTime('The database') : brokenConnection());
        },
      };
      this.#timeouts.add(timed);
      ask((error, answer, fields) => {
        this.#timeouts.delete(timed);
        if (!error) resolve(lastOf(answer, fields, count));
        else {
          if (failureOf(error) === 'unavailable') this.#isBroken = true;
          reject(error);
        }
      });
    });
  }
}

/** Several statements have an answer each. */
const lastOf = (answer: unknown, fields: unknown, count: number): unknown => {
  const isList = count > 1 && Array.isArray(answer);
  const last: unknown = isList ? answer.at(-1) : answer;
  const columns: unknown = isList && Array.isArray(fields) ? fields.at(-1) : fields;
  if (!Array.isArray(last) || !Array.isArray(columns)) return last;
  return withBigints(last as Record<string, unknown>[], columns as FieldPacket[]);
};

/** LONGLONG, in the client/server protocol. */
const int64 = 8;

/** mysql2 reads an int64 as a number, and beyond 2^53 as text. */
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
  Object.assign(new Error('the connection broke, or did not answer in time'), {
    code: 'POOL_BROKEN',
  });
