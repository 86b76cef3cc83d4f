/** How many connections there are, and who gets the last ones. */
export interface PoolLimits {
  readonly all: number;
  /** The last ones are for statements on tables that nobody else is busy with. */
  readonly reserve: number;
  readonly mostWaiting: number;
}

/** A place at the database. */
export interface Share {
  /** Which tables it is used for from now on, too. */
  touch(tables: readonly string[]): void;
  giveBack(): void;
}

interface Waiting {
  readonly tables: readonly string[];
  readonly call: (share: Share) => void;
}

/**
 * Who may use a connection now. A table that somebody has locked holds up all who need it, but never those who do not:
 * they are let past, to connections that the others cannot get.
 */
export class PoolShares {
  readonly #limits: PoolLimits;
  /** How many shares are used for each table. */
  readonly #busy = new Map<string, number>();
  /** In the order of their coming. */
  readonly #waiting = new Set<Waiting>();
  #taken = 0;

  constructor(limits: PoolLimits) {
    this.#limits = limits;
  }

  /**
   * @param tables what it is used for first
   * @throws Error with code `POOL_BUSY` after `ms`, or `POOL_FULL`
   */
  take(tables: readonly string[], ms: number): Promise<Share> {
    if (this.#admits(tables)) return Promise.resolve(this.#share(tables));
    if (this.#waiting.size >= this.#limits.mostWaiting) return Promise.reject(full());
    return new Promise((resolve, reject) => {
      const waiting: Waiting = {
        tables,
        call: (share) => {
          clearTimeout(timer);
          resolve(share);
        },
      };
      const timer = setTimeout(() => {
        this.#waiting.delete(waiting);
        reject(noneInTime());
      }, ms);
      this.#waiting.add(waiting);
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
      waiting.call(this.#share(waiting.tables));
    }
  }
}

const full = (): Error =>
  Object.assign(new Error('too many wait for a connection'), { code: 'POOL_FULL' });

const noneInTime = (): Error =>
  Object.assign(new Error('no free connection in time'), { code: 'POOL_BUSY' });
