import type { Connection } from 'mysql2';
import { OutOfTime } from '../../../kernel/unavailable.ts';
import type { PoolLoad } from './connections.ts';
import { GuardedConnection, type QueryLimits, type Statement } from './mysql-connection.ts';
import { prepareSession, type LockSeconds } from './mysql-session.ts';
import { MysqlTimeouts } from './mysql-timeouts.ts';
import { PoolShares, type PoolLimits, type Share } from './pool-shares.ts';

export interface PoolSettings extends QueryLimits {
  readonly limits: PoolLimits;
  /** For a connection, a free one or a new one. */
  readonly acquireMs: number;
  readonly lockSeconds: LockSeconds;
}

const leastLookMs = 1_000;

/** A connection, until it is given back. */
export interface Held {
  readonly connection: GuardedConnection;
  readonly share: Share;
}

/** The connections of this process. A wait for one has a deadline, also while the server is silent. */
export class MysqlPool {
  readonly #connect: () => Connection;
  readonly #settings: PoolSettings;
  readonly #timeouts = new MysqlTimeouts();
  readonly #shares: PoolShares;
  /** The last one to come back is the first one used, so that those too many are closed by the server. */
  readonly #idle: GuardedConnection[] = [];
  readonly #open = new Set<GuardedConnection>();
  readonly #opening = new Set<Connection>();
  #isClosed = false;

  constructor(connect: () => Connection, settings: PoolSettings) {
    this.#connect = connect;
    this.#settings = settings;
    this.#shares = new PoolShares(settings.limits, this.#timeouts);
  }

  load(): PoolLoad {
    return this.#shares.load();
  }

  /** @param tables the tables of its first statement */
  async take(tables: readonly string[]): Promise<Held> {
    const { acquireMs, deadline } = this.#settings;
    const { leftMs } = deadline;
    if (leftMs === 0) throw new OutOfTime('The database');
    if (this.#isClosed) throw new Error('the pool is closed');
    const ms = Math.min(acquireMs, leftMs);
    const endsAt = performance.now() + ms;
    const share = this.#shares.takeNow(tables) ?? (await this.#shares.take(tables, ms));
    const connection = this.#takeIdle();
    return connection ? { share, connection } : this.#openFor(share, endsAt);
  }

  /** Runs a query that is compiled once, outside any transaction. @returns its rows */
  async read({ sql, parameters }: Statement, tables: readonly string[]): Promise<unknown[]> {
    const held = await this.take(tables);
    try {
      return await held.connection.execute(sql, parameters);
    } finally {
      this.giveBack(held);
    }
  }

  giveBack(held: Held): void {
    const { isUsable, mayBeStale } = held.connection;
    // A look that its request's deadline cuts off would close a connection that works; the next one looks.
    const hasTime = this.#settings.deadline.leftMs >= leastLookMs;
    if (isUsable && mayBeStale && hasTime && !this.#isClosed) void this.#look(held);
    else this.#put(held);
  }

  /** Waits for running queries, but not for connections that were never used. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const connection of this.#opening) connection.destroy();
    await Promise.all([...this.#open].map((connection) => connection.end()));
  }

  /** If the server takes no writes, the address may lead to another one: all connections are opened again. */
  async #look(held: Held): Promise<void> {
    const opened = [...this.#open];
    // A connection that cannot answer is no longer usable.
    const isReadOnly = await held.connection.isReadOnly().catch(() => false);
    if (isReadOnly) {
      for (const one of opened) one.retire();
      for (const one of this.#idle.splice(0)) this.#drop(one);
    }
    this.#put(held);
  }

  #put({ connection, share }: Held): void {
    if (connection.isUsable && !this.#isClosed) this.#idle.push(connection);
    else this.#drop(connection);
    share.giveBack();
  }

  #takeIdle(): GuardedConnection | undefined {
    for (let one = this.#idle.pop(); one; one = this.#idle.pop()) {
      if (one.isUsable) return one;
      this.#drop(one);
    }
    return undefined;
  }

  #drop(connection: GuardedConnection): void {
    this.#open.delete(connection);
    connection.destroy();
  }

  async #openFor(share: Share, endsAt: number): Promise<Held> {
    const opening = this.#openOne();
    try {
      return { share, connection: await this.#inTime(opening, endsAt) };
    } catch (error) {
      // A connection that opens too late is kept for the next caller.
      opening.then(
        (connection) => {
          this.giveBack({ share, connection });
        },
        () => {
          share.giveBack();
        },
      );
      throw error;
    }
  }

  /** One that refuses the settings is not used. */
  async #openOne(): Promise<GuardedConnection> {
    const { queryMs, deadline, lockSeconds } = this.#settings;
    const connection = this.#connect();
    this.#opening.add(connection);
    // What breaks it is told to its caller.
    connection.on('error', () => undefined);
    try {
      await connected(connection);
      await this.#inTime(prepareSession(connection, lockSeconds), performance.now() + queryMs);
    } catch (error) {
      connection.destroy();
      throw error;
    } finally {
      this.#opening.delete(connection);
    }
    const guarded = new GuardedConnection(connection, { queryMs, deadline }, this.#timeouts);
    this.#open.add(guarded);
    return guarded;
  }

  async #inTime<T>(work: Promise<T>, endsAt: number): Promise<T> {
    const { promise: late, reject } = Promise.withResolvers<never>();
    const timed = {
      endsAt,
      giveUp: () => {
        reject(tooLate());
      },
    };
    this.#timeouts.add(timed);
    try {
      return await Promise.race([work, late]);
    } finally {
      this.#timeouts.delete(timed);
    }
  }
}

const connected = (connection: Connection): Promise<void> =>
  new Promise((resolve, reject) => {
    connection.connect((error) => {
      if (error) reject(error);
      else resolve();
    });
  });

const tooLate = (): Error =>
  Object.assign(new Error('no connection could be opened in time'), { code: 'POOL_TIMEOUT' });
