import type { Pool, PoolConnection } from 'mysql2';
import { OutOfTime } from '../../../kernel/unavailable.ts';
import type { PoolLoad } from './connections.ts';
import { GuardedConnection, type QueryLimits, type Statement } from './mysql-connection.ts';
import { coded, inTime, MysqlPlaces, type Place, type PlaceLimits } from './mysql-places.ts';
import { prepareSession, type LockSeconds } from './mysql-session.ts';

export interface PoolSettings extends QueryLimits {
  readonly limits: PlaceLimits;
  /** For a connection, a free one or a new one. */
  readonly acquireMs: number;
  readonly lockSeconds: LockSeconds;
}

/** A connection, until it is given back. */
export interface Held {
  readonly connection: GuardedConnection;
  readonly place: Place;
}

/** mysql2's pool; a wait for a connection has a deadline, also while the server is silent. */
export class MysqlPool {
  readonly #pool: Pool;
  readonly #settings: PoolSettings;
  readonly #places: MysqlPlaces;
  readonly #known = new WeakMap<PoolConnection, GuardedConnection>();
  #isClosed = false;

  constructor(pool: Pool, settings: PoolSettings) {
    this.#pool = pool;
    this.#settings = settings;
    this.#places = new MysqlPlaces(settings.limits);
  }

  load(): PoolLoad {
    return this.#places.load();
  }

  /** For a transaction, or a query that is compiled once; its place is for the table of its first statement. */
  async take(first: Statement): Promise<Held> {
    const { acquireMs, deadline } = this.#settings;
    const { leftMs } = deadline;
    if (leftMs === 0) throw new OutOfTime('The database');
    if (this.#isClosed) throw new Error('the pool is closed');
    const ms = Math.min(acquireMs, leftMs);
    const since = performance.now();
    const place = await this.#places.take(tableOf(first), ms);
    const opening = this.#open();
    try {
      const connection = await inTime<GuardedConnection>({
        ms: Math.max(1, ms - (performance.now() - since)),
        begin: (settle) => {
          opening.then(
            (opened) => {
              settle(null, opened);
            },
            (error: unknown) => {
              settle(error as Error);
            },
          );
        },
        late: () => (leftMs < acquireMs ? new OutOfTime('The database') : tooLate()),
      });
      return { connection, place };
    } catch (error) {
      // A connection that opens too late is kept for the next caller.
      opening.then(
        (connection) => {
          this.giveBack({ connection, place });
        },
        () => {
          this.#places.giveBack(place);
        },
      );
      throw error;
    }
  }

  /** Runs a query that is compiled once, outside any transaction. @returns its rows */
  async read(query: Statement): Promise<unknown[]> {
    const held = await this.take(query);
    try {
      return await held.connection.execute(query);
    } finally {
      this.giveBack(held);
    }
  }

  giveBack({ connection, place }: Held): void {
    connection.giveBack();
    this.#places.giveBack(place);
  }

  /** Waits for running queries: mysql2 tells nobody of the end of a connection that is destroyed meanwhile. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#places.idle();
    await new Promise((resolve) => {
      this.#pool.end(resolve);
    });
  }

  /** One that refuses the settings, or leads to a server that takes no writes any more, is not used. */
  async #open(): Promise<GuardedConnection> {
    const { queryMs, deadline, lockSeconds } = this.#settings;
    for (;;) {
      const connection = await this.#connect();
      const known = this.#known.get(connection);
      const guarded = known ?? new GuardedConnection(connection, { queryMs, deadline });
      try {
        if (!known) await prepareSession(guarded, lockSeconds);
        this.#known.set(connection, guarded);
        if (await guarded.leadsToPrimary()) return guarded;
        guarded.destroy();
      } catch (error) {
        guarded.destroy();
        throw error;
      }
    }
  }

  #connect(): Promise<PoolConnection> {
    return new Promise((resolve, reject) => {
      this.#pool.getConnection((error, connection) => {
        if (error) reject(error);
        else resolve(connection);
      });
    });
  }
}

/** The table that a statement names first; empty if it names none. */
export const tableOf = ({ sql }: Statement): string =>
  /\b(?:from|into|update) `(\w+)`/.exec(sql)?.[1] ?? '';

const tooLate = (): Error => coded('POOL_TIMEOUT', 'no connection could be opened in time');
