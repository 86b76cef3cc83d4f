import type { PoolConnection, QueryError } from 'mysql2';
import type { Deadline } from '../../../kernel/deadline.ts';
import { OutOfTime } from '../../../kernel/unavailable.ts';
import { failureOf } from './failure.ts';

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

/**
 * A pooled connection. Each packet has a deadline that starts when it is requested (mysql2's starts when it is sent)
 * and never exceeds the request's. Only a working connection without an open transaction returns to the pool, because
 * the next BEGIN would commit the open one (MySQL 8 manual, 15.3.3). A connection that broke, missed a deadline, or
 * failed a packet with COMMIT or ROLLBACK is closed; the server then rolls back.
 */
export class GuardedConnection {
  readonly #connection: PoolConnection;
  readonly #limits: QueryLimits;
  #isBroken = false;
  #isInTransaction = false;

  constructor(connection: PoolConnection, limits: QueryLimits) {
    this.#connection = connection;
    this.#limits = limits;
  }

  /** Sends statements in one packet. MySQL runs them in this order, until one fails. @returns the answer to the last */
  async send(statements: readonly Statement[]): Promise<unknown> {
    if (this.#isBroken) throw brokenConnection();
    if (this.#limits.deadline.leftMs === 0) throw new OutOfTime('The database');
    // Set before sending, because a lost packet may have been executed.
    if (statements.includes(begin)) this.#isInTransaction = true;
    const last = statements.at(-1);
    const ends = last === commit || last === rollback;
    try {
      const answer = await this.#ask(statements);
      if (ends) this.#isInTransaction = false;
      return answer;
    } catch (error) {
      if (ends || failureOf(error) === 'unavailable') this.#isBroken = true;
      throw error;
    }
  }

  release(): void {
    if (this.#isBroken || this.#isInTransaction) this.#connection.destroy();
    else this.#connection.release();
  }

  #ask(statements: readonly Statement[]): Promise<unknown> {
    const { queryMs, deadline } = this.#limits;
    const { leftMs } = deadline;
    return new Promise((resolve, reject) => {
      const giveUp = () => {
        this.#isBroken = true;
        this.#connection.destroy();
        reject(leftMs < queryMs ? new OutOfTime('The database') : brokenConnection());
      };
      const timer = setTimeout(giveUp, Math.min(queryMs, leftMs));
      const sql = statements.map((one) => one.sql).join('; ');
      const values = statements.flatMap(({ parameters }) => parameters);
      this.#connection.query({ sql, values }, (error: QueryError | null, answer: unknown) => {
        clearTimeout(timer);
        if (error) reject(error);
        else resolve(statements.length > 1 && Array.isArray(answer) ? answer.at(-1) : answer);
      });
    });
  }
}

const brokenConnection = () =>
  Object.assign(new Error('the connection broke, or did not answer in time'), {
    code: 'POOL_BROKEN',
  });
