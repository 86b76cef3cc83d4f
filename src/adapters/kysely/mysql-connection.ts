import type { PoolConnection } from 'mysql2';
import type { Deadline } from '../../kernel/deadline.ts';
import { failureOf } from './failure.ts';

/** What Kysely's driver uses of a connection. */
export interface GuardedConnection {
  readonly threadId: number;
  query(text: string, parameters: unknown[], done: (error: unknown, result: unknown) => void): void;
  release(): void;
}

type Control = 'begin' | 'commit' | 'rollback';
const controls: readonly string[] = ['begin', 'commit', 'rollback'] satisfies Control[];
const isControl = (sql: string): sql is Control => controls.includes(sql);

/**
 * A pooled connection with two promises. Each query has a deadline from the moment it is asked for (mysql2's own
 * begins when it is sent), which is never later than that of the request. And only a connection that works and has no transaction open goes back into the pool:
 * the next BEGIN would commit what is left of the one before (MySQL 8 manual, 15.3.3). So one that broke, that missed a
 * deadline, or that was refused a BEGIN, COMMIT or ROLLBACK for whatever reason, is closed; the server then rolls back.
 */
export const guardConnection = (
  connection: PoolConnection,
  queryMs: number,
  deadline: Pick<Deadline, 'leftMs'>,
): GuardedConnection => {
  let isBroken = false;
  let isInTransaction = false;
  const ask = (sql: string, values: unknown[], done: (error: unknown, result: unknown) => void) => {
    let isWaiting = true;
    const answer = (error: unknown, result: unknown) => {
      if (!isWaiting) return;
      isWaiting = false;
      clearTimeout(timer);
      if (error && (isControl(sql) || failureOf(error) === 'unavailable')) isBroken = true;
      if (!error && sql !== 'begin' && isControl(sql)) isInTransaction = false;
      done(error, result);
    };
    const timer = setTimeout(
      () => {
        connection.destroy();
        answer(brokenConnection(), undefined);
      },
      Math.min(queryMs, deadline.leftMs),
    );
    connection.query({ sql, values }, answer);
  };
  return {
    threadId: connection.threadId,
    query: (sql, values, done) => {
      if (!isBroken) {
        // From the moment it is sent: nobody knows how far a lost one came.
        if (sql === 'begin') isInTransaction = true;
        ask(sql, values, done);
      } else if (sql === 'rollback') {
        // Closing does it. An error here would hide the one that led to it.
        done(undefined, []);
      } else {
        done(brokenConnection(), undefined);
      }
    },
    release: () => {
      if (isBroken || isInTransaction) connection.destroy();
      else connection.release();
    },
  };
};

const brokenConnection = () =>
  Object.assign(new Error('the connection broke, or did not answer in time'), {
    code: 'POOL_BROKEN',
  });
