import type { Pool, PoolConnection } from 'mysql2';
import { OutOfTime } from '../../../kernel/unavailable.ts';
import { GuardedConnection, type QueryLimits } from './mysql-connection.ts';
import { prepareSession, type LockSeconds } from './mysql-session.ts';
import { PoolShares, type PoolLimits, type Share } from './pool-shares.ts';

export interface PoolSettings extends QueryLimits {
  readonly limits: PoolLimits;
  /** For a connection, a free one or a new one. */
  readonly acquireMs: number;
  readonly lockSeconds: LockSeconds;
}

/** A connection, until it is given back. */
export interface Held {
  readonly connection: GuardedConnection;
  readonly share: Share;
}

/** mysql2 lets borrowers wait for ever while the server is silent; here the wait has a deadline. */
export class MysqlPool {
  readonly #pool: Pool;
  readonly #settings: PoolSettings;
  readonly #shares: PoolShares;
  readonly #guarded = new WeakMap<PoolConnection, GuardedConnection>();
  readonly #preparing = new Set<PoolConnection>();

  constructor(pool: Pool, settings: PoolSettings) {
    this.#pool = pool;
    this.#settings = settings;
    this.#shares = new PoolShares(settings.limits);
  }

  /** @param tables the tables of its first statement */
  async take(tables: readonly string[]): Promise<Held> {
    const { acquireMs, deadline } = this.#settings;
    if (deadline.leftMs === 0) throw new OutOfTime('The database');
    const ms = Math.min(acquireMs, deadline.leftMs);
    const endsAt = performance.now() + ms;
    const share = await this.#shares.take(tables, ms);
    const opening = this.#open();
    try {
      return { share, connection: await inTime(opening, endsAt - performance.now()) };
    } catch (error) {
      // A connection that opens too late is kept for the next caller.
      opening.then(
        (connection) => {
          giveBack({ share, connection });
        },
        () => {
          share.giveBack();
        },
      );
      throw error;
    }
  }

  /** Waits for running queries, but not for connections that were never used. */
  close(): Promise<void> {
    for (const connection of this.#preparing) connection.destroy();
    return new Promise((resolve) => {
      // A connection that breaks while closing counts as closed.
      this.#pool.end(() => {
        resolve();
      });
    });
  }

  async #open(): Promise<GuardedConnection> {
    const connection = await new Promise<PoolConnection>((resolve, reject) => {
      this.#pool.getConnection((error, one) => {
        if (error) reject(error);
        else resolve(one);
      });
    });
    return this.#guarded.get(connection) ?? this.#prepare(connection);
  }

  /** Prepares a new connection within the deadline of a query; one that refuses the settings is not used. */
  async #prepare(connection: PoolConnection): Promise<GuardedConnection> {
    const { queryMs, deadline, lockSeconds } = this.#settings;
    this.#preparing.add(connection);
    try {
      await inTime(prepareSession(connection, lockSeconds), queryMs);
    } catch (error) {
      connection.destroy();
      throw error;
    } finally {
      this.#preparing.delete(connection);
    }
    const guarded = new GuardedConnection(connection, { queryMs, deadline });
    this.#guarded.set(connection, guarded);
    return guarded;
  }
}

export const giveBack = ({ connection, share }: Held): void => {
  connection.release();
  share.giveBack();
};

const inTime = async <T>(work: Promise<T>, ms: number): Promise<T> => {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => {
        const error = new Error('no connection could be opened in time');
        reject(Object.assign(error, { code: 'POOL_TIMEOUT' }));
      },
      Math.max(0, ms),
    );
    // The timer must not keep a process alive that no longer uses the pool.
    timer.unref();
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
};
