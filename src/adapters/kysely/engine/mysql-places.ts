import type { PoolLoad } from './connections.ts';

/** The right to use one connection: the tables that it is used for. */
export type Place = Set<string>;

export interface PlaceLimits {
  readonly all: number;
  /** Reserved for a table that no other place is used for. */
  readonly reserve: number;
  readonly mostWaiting: number;
}

interface Waiting {
  readonly table: string;
  readonly call: (error: null, place: Place) => void;
}

/**
 * Decides who may use a connection now, first come, first served. Statements on a locked table cannot take the last
 * connections, which others need meanwhile.
 */
export class MysqlPlaces {
  readonly #limits: PlaceLimits;
  readonly #taken = new Set<Place>();
  readonly #waiting = new Set<Waiting>();
  #idle: (() => void) | undefined;

  constructor(limits: PlaceLimits) {
    this.#limits = limits;
  }

  load(): PoolLoad {
    return { all: this.#limits.all, busy: this.#taken.size, waiting: this.#waiting.size };
  }

  /**
   * @param table of the first statement; empty if it needs none
   * @throws Error with code `POOL_BUSY` after `ms`, or `POOL_FULL`
   */
  async take(table: string, ms: number): Promise<Place> {
    if (this.#admits(table)) return this.#place(table);
    if (this.#waiting.size >= this.#limits.mostWaiting) {
      throw coded('POOL_FULL', 'too many wait for a connection');
    }
    let waiting: Waiting | undefined;
    return inTime<Place>({
      ms,
      begin: (call) => this.#waiting.add((waiting = { table, call })),
      late: () => {
        if (waiting) this.#waiting.delete(waiting);
        return coded('POOL_BUSY', 'no free connection in time');
      },
    });
  }

  giveBack(place: Place): void {
    this.#taken.delete(place);
    for (const waiting of this.#waiting) {
      if (!this.#admits(waiting.table)) continue;
      this.#waiting.delete(waiting);
      waiting.call(null, this.#place(waiting.table));
    }
    if (this.#taken.size === 0) this.#idle?.();
  }

  /** Settles once nobody has a place. */
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
    return table === '' || ![...this.#taken].some((place) => place.has(table));
  }

  #place(table: string): Place {
    const place = new Set([table]);
    this.#taken.add(place);
    return place;
  }
}

interface Timed<T> {
  readonly ms: number;
  readonly begin: (settle: (error: Error | null, value?: T) => void) => unknown;
  /** Called after `ms`. @returns what the caller is refused with */
  readonly late: () => Error;
}

/** What `begin` settles with, if that comes in time. */
export const inTime = <T>({ ms, begin, late }: Timed<T>): Promise<T> =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      reject(late());
    }, ms);
    // What is waited for keeps the process alive by itself, if at all.
    timer.unref();
    begin((error, value) => {
      clearTimeout(timer);
      if (error) reject(error);
      else resolve(value as T);
    });
  });

export const coded = (code: string, message: string): Error =>
  Object.assign(new Error(message), { code });
