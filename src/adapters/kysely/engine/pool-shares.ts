import type { PoolLoad } from './connections.ts';
import { MysqlTimeouts, type Timed } from './mysql-timeouts.ts';

/** How many connections there are, and how many are reserved. */
export interface PoolLimits {
  readonly all: number;
  /** Reserved for statements on tables that no other share uses. */
  readonly reserve: number;
  readonly mostWaiting: number;
}

/** A place at the database. */
export interface Share {
  /** Adds tables that it is used for from now on. */
  touch(tables: readonly string[]): void;
  giveBack(): void;
}

interface Waiting extends Timed {
  readonly tables: readonly string[];
  readonly call: (share: Share) => void;
}

/**
 * Decides who may use a connection now. A locked table blocks everyone who needs it, but never those who do not: they
 * may use reserved connections that the others cannot get.
 */
export class PoolShares {
  readonly #limits: PoolLimits;
  readonly #timeouts: MysqlTimeouts;
  /** How many shares are used for each table. */
  readonly #busy = new Map<string, number>();
  /** First come, first served. */
  readonly #waiting = new Set<Waiting>();
  #taken = 0;

  constructor(limits: PoolLimits, timeouts = new MysqlTimeouts()) {
    this.#limits = limits;
    this.#timeouts = timeouts;
  }

  load(): PoolLoad {
    return { all: this.#limits.all, busy: this.#taken, waiting: this.#waiting.size };
  }

  /** @param tables the tables of its first statement */
  takeNow(tables: readonly string[]): Share | undefined {
    return this.#admits(tables) ? this.#share(tables) : undefined;
  }

  /**
   * @param tables the tables of its first statement
   * @throws Error with code `POOL_BUSY` after `ms`, or `POOL_FULL`
   */
  take(tables: readonly string[], ms: number): Promise<Share> {
    const share = this.takeNow(tables);
    if (share) return Promise.resolve(share);
    if (this.#waiting.size >= this.#limits.mostWaiting) return Promise.reject(full());
    return new Promise((resolve, reject) => {
      const waiting: Waiting = {
        tables,
        endsAt: performance.now() + ms,
        call: resolve,
        giveUp: () => {
          this.#waiting.delete(waiting);
          reject(noneInTime());
        },
      };
      this.#waiting.add(waiting);
      this.#timeouts.add(waiting);
    });
  }

  #admits(tables: readonly string[]): boolean {
    const free = this.#limits.all - this.#taken;
    if (free > this.#limits.reserve) return true;
    return free > 0 && !tables.some((table) => this.#busy.has(table));
  }

  #share(tables: readonly string[]): Share {
    const used = new Set<string>();
    const touch = (more: readonly string[]) => {
      for (const table of more) {
        if (used.has(table)) continue;
        used.add(table);
        this.#busy.set(table, (this.#busy.get(table) ?? 0) + 1);
      }
    };
    this.#taken += 1;
    touch(tables);
    return {
      touch,
      giveBack: () => {
        this.#giveBack(used);
      },
    };
  }

  #giveBack(used: ReadonlySet<string>): void {
    this.#taken -= 1;
    for (const table of used) {
      const left = (this.#busy.get(table) ?? 0) - 1;
      if (left > 0) this.#busy.set(table, left);
      else this.#busy.delete(table);
    }
    this.#callNext();
  }

  #callNext(): void {
    for (const waiting of this.#waiting) {
      if (this.#taken === this.#limits.all) return;
      if (!this.#admits(waiting.tables)) continue;
      this.#waiting.delete(waiting);
      this.#timeouts.delete(waiting);
      waiting.call(this.#share(waiting.tables));
    }
  }
}

const full = (): Error =>
  Object.assign(new Error('too many wait for a connection'), { code: 'POOL_FULL' });

const noneInTime = (): Error =>
  Object.assign(new Error('no free connection in time'), { code: 'POOL_BUSY' });
