/** The time, from outside. It may jump: nothing may count on two readings being in order. */
export abstract class Clock {
  abstract now(): Date;
}

/** @returns undefined if there is none */
export const earliest = (times: readonly (Date | undefined)[]): Date | undefined =>
  times
    .filter((time) => time !== undefined)
    .toSorted((one, other) => one.getTime() - other.getTime())[0];

/** New ids from outside: unique for ever over all processes, URL-safe, at most 40 characters. */
export abstract class Ids {
  /** @param prefix the kind of thing, e.g. `acct` gives `acct_…` */
  abstract next(prefix: string): string;
}

/**
 * Who acts: `service` for automatic work, `operator` for commands, `key:<id>` for the API, `person:<e-mail>` for the
 * dashboard.
 */
export type Actor = 'service' | 'operator' | `key:${string}` | `person:${string}`;

export const isActor = (text: string): text is Actor =>
  text === 'service' ||
  text === 'operator' ||
  text.startsWith('key:') ||
  text.startsWith('person:');

/** On whose behalf the current call runs. Events are stored with it; no rule depends on it. */
export abstract class Acting {
  abstract readonly actor: Actor;

  /** Everything that `work` begins is done by `actor`. */
  abstract run<T>(actor: Actor, work: () => T): T;
}

/**
 * The deadline of the current call. A request has one deadline, and every wait inside it is limited to the time left.
 */
export abstract class Deadline {
  /** Milliseconds; 0 once it has passed. Infinity without a deadline: in jobs, commands, and work after the answer. */
  abstract readonly leftMs: number;

  /** Gives all of `work` one deadline, from now until it settles. */
  abstract during<T>(work: () => Promise<T>): Promise<T>;

  /** Runs `work` without a deadline and does not count its time, since it has its own limits. */
  abstract apart<T>(work: () => Promise<T>): Promise<T>;
}

/** For work without a deadline. */
export const noDeadline: Pick<Deadline, 'leftMs'> = { leftMs: Infinity };

/** Encrypts secrets that are kept: private keys. */
export abstract class Sealer {
  /**
   * Ids of the keys that can open; they reveal nothing about the keys. The first one seals, and its id is stored beside
   * the sealed value.
   */
  abstract readonly keyIds: readonly [string, ...string[]];

  /** @param purpose what it is for, bound to the result: sealed for one purpose, it does not open for another */
  abstract seal(secret: string, purpose: string): string;

  /** Whether it is sealed with the current key; for values that have no stored key id. */
  abstract isCurrent(sealed: string, purpose: string): boolean;

  /**
   * @param sealedBy the id stored beside it, if there is one: a hint which key to try first
   * @throws Error when it was changed, or sealed under another key or for another purpose
   */
  abstract open(sealed: string, purpose: string, sealedBy?: string): string;
}

/** Which rows of a table are deleted, and when. An index leads to them, oldest first. */
export interface RetentionRule<Column extends string = string, TimeColumn extends string = string> {
  /** The rows in words. */
  readonly what: string;
  /** The time from which their age counts; rows without it stay. */
  readonly since: TimeColumn;
  readonly keptMs: number;
  /** Only rows with one of these words. */
  readonly only?: { readonly column: Column; readonly words: readonly string[] };
  /** Rows whose id is in that column stay. */
  readonly unlessIn?: { readonly table: string; readonly column: string };
}

/** Deletes what is too old to be of use. */
export abstract class Retention {
  /**
   * Deletes the rows of a table that are older than `before`, as its rule counts their age. It takes them in slices, so
   * that other writes do not wait for long, and leaves the rest to a later call once it is stopping.
   * @returns how many
   */
  abstract sweep(table: string, before: Date, isStopping?: () => boolean): Promise<number>;

  /** The time from which the age of the oldest row counts, even if `sweep` would keep it; undefined without rows that age. */
  abstract oldest(table: string): Promise<Date | undefined>;
}

/**
 * An outside system (the database) is unreachable or overloaded. Whether anything was stored is unknown; a retry may
 * help.
 */
export class Unavailable extends Error {
  override readonly name = 'Unavailable';
  readonly what: string;

  constructor(what: string, cause: unknown, problem = 'cannot be reached') {
    super(`${what} ${problem}`, { cause });
    this.what = what;
  }
}

/** The request's deadline passed; this does not mean that the outside system is failing. */
export class OutOfTime extends Unavailable {
  constructor(what: string) {
    super(what, undefined, 'did not answer before the deadline of the request');
  }
}
