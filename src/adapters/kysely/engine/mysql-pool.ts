import type { Pool, PoolConnection } from 'mysql2';
import { OutOfTime } from '../../../kernel/ports.ts';
import type { PoolLoad } from './connections.ts';
import {
  GuardedConnection,
  coded,
  inTime,
  prepareSession,
  type QueryLimits,
  type Statement,
  type LockSeconds,
} from './mysql-connection.ts';

export interface PoolSettings extends QueryLimits {
  readonly limits: SlotLimits;
  readonly acquireMs: number;
  readonly lockSeconds: LockSeconds;
}

export interface HeldConnection {
  readonly connection: GuardedConnection;
  readonly slot: Slot;
}

/** A pool that limits how long callers wait for a connection. */
export class MysqlPool {
  readonly #pool: Pool;
  readonly #settings: PoolSettings;
  readonly #slots: ConnectionSlots;
  readonly #known = new WeakMap<PoolConnection, GuardedConnection>();

  constructor(pool: Pool, settings: PoolSettings) {
    this.#pool = pool;
    this.#settings = settings;
    this.#slots = new ConnectionSlots(settings.limits);
  }

  load(): PoolLoad {
    return this.#slots.load();
  }

  /** Reserves the slot for the table of the first statement. */
  async take(first: Statement): Promise<HeldConnection> {
    const { acquireMs, deadline } = this.#settings;
    const { leftMs } = deadline;
    if (leftMs === 0) throw new OutOfTime('The database');
    const ms = Math.min(acquireMs, leftMs);
    const since = performance.now();
    const slot = await this.#slots.take(tableOf(first), ms);
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
      return { connection, slot };
    } catch (error) {
      // If a connection opens too late, the next caller gets it.
      opening.then(
        (connection) => {
          this.giveBack({ connection, slot });
        },
        () => {
          this.#slots.giveBack(slot);
        },
      );
      throw error;
    }
  }

  async read(query: Statement): Promise<unknown[]> {
    const held = await this.take(query);
    try {
      return await held.connection.execute(query);
    } finally {
      this.giveBack(held);
    }
  }

  giveBack({ connection, slot }: HeldConnection): void {
    connection.giveBack();
    this.#slots.giveBack(slot);
  }

  /** mysql2 does not report the end of a destroyed connection. */
  async close(): Promise<void> {
    await this.#slots.idle();
    await new Promise((resolve) => {
      this.#pool.end(resolve);
    });
  }

  /** Opens a connection. Refuses servers that accept no writes. */
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

/** The table of a statement; empty if there is none. */
export const tableOf = ({ sql }: Statement): string =>
  /\b(?:from|into|update) `(\w+)`/.exec(sql)?.[1] ?? '';

const tooLate = (): Error => coded('POOL_TIMEOUT', 'no connection could be opened in time');

export type Slot = Set<string>;

export interface SlotLimits {
  readonly all: number;
  /** How many slots are reserved for tables that have no other slot. */
  readonly reserve: number;
  readonly mostWaiting: number;
}

interface Waiting {
  readonly table: string;
  readonly call: (error: null, slot: Slot) => void;
}

/** Serves callers in their order. One locked table cannot take the last connections. */
export class ConnectionSlots {
  readonly #limits: SlotLimits;
  readonly #taken = new Set<Slot>();
  readonly #waiting = new Set<Waiting>();
  #idle: (() => void) | undefined;

  constructor(limits: SlotLimits) {
    this.#limits = limits;
  }

  load(): PoolLoad {
    return { all: this.#limits.all, busy: this.#taken.size, waiting: this.#waiting.size };
  }

  /** @param table may be empty @throws Error with code `POOL_BUSY` after `ms`, or `POOL_FULL` */
  async take(table: string, ms: number): Promise<Slot> {
    if (this.#admits(table)) return this.#slot(table);
    if (this.#waiting.size >= this.#limits.mostWaiting) {
      throw coded('POOL_FULL', 'too many wait for a connection');
    }
    let waiting: Waiting | undefined;
    return inTime<Slot>({
      ms,
      begin: (call) => this.#waiting.add((waiting = { table, call })),
      late: () => {
        if (waiting) this.#waiting.delete(waiting);
        return coded('POOL_BUSY', 'no free connection in time');
      },
    });
  }

  giveBack(slot: Slot): void {
    this.#taken.delete(slot);
    for (const waiting of this.#waiting) {
      if (!this.#admits(waiting.table)) continue;
      this.#waiting.delete(waiting);
      waiting.call(null, this.#slot(waiting.table));
    }
    if (this.#taken.size === 0) this.#idle?.();
  }

  idle(): Promise<void> {
    return new Promise((resolve) => {
      this.#idle = resolve;
      if (this.#taken.size === 0) resolve();
    });
  }

  #admits(table: string): boolean {
    const free = this.#limits.all - this.#taken.size;
    if (free > this.#limits.reserve) return true;
    if (free === 0) return false;
    return table === '' || ![...this.#taken].some((slot) => slot.has(table));
  }

  #slot(table: string): Slot {
    const slot = new Set([table]);
    this.#taken.add(slot);
    return slot;
  }
}
