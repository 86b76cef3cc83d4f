/** Reads the time, which may jump in both directions, so two readings need not be in order. */
export abstract class Clock {
  abstract now(): Date;
}

export const earliest = (times: readonly (Date | undefined)[]): Date | undefined =>
  times
    .filter((time) => time !== undefined)
    .toSorted((one, other) => one.getTime() - other.getTime())[0];

/** Creates ids that are unique across all processes, URL-safe and at most 40 characters long. */
export abstract class Ids {
  /** @param prefix the kind of thing; `acct` gives `acct_…` */
  abstract next(prefix: string): string;
}

/** Who acts: automatic work, the command line, the API (`key:<id>`) or the dashboard (`person:<email>`). */
export type Actor = 'service' | 'operator' | `key:${string}` | `person:${string}`;

export const isActor = (text: string): text is Actor =>
  text === 'service' ||
  text === 'operator' ||
  text.startsWith('key:') ||
  text.startsWith('person:');

/** Knows on whose behalf the current call runs. The actor is stored with events; no rule depends on it. */
export abstract class Acting {
  abstract readonly actor: Actor;

  abstract run<T>(actor: Actor, work: () => T): T;
}

/** Sets the deadline of the current request, which limits every wait inside it. */
export abstract class Deadline {
  /** The time left, in milliseconds: 0 after the deadline, and Infinity in jobs, in commands and after the answer. */
  abstract readonly leftMs: number;

  abstract during<T>(work: () => Promise<T>): Promise<T>;

  /** Runs `work` without the deadline and does not count its time, because it has its own limits. */
  abstract apart<T>(work: () => Promise<T>): Promise<T>;
}

export const noDeadline: Pick<Deadline, 'leftMs'> = { leftMs: Infinity };

/** Excludes a port's calls from the request's deadline, because they have their own limits. */
export const apart = <Port extends object>(deadline: Deadline, port: Port): Port =>
  new Proxy(port, {
    get: (target, name) => {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      return (...parameters: unknown[]) =>
        deadline.apart(() => Reflect.apply(member, target, parameters) as Promise<unknown>);
    },
  });

export abstract class Sealer {
  /** The first key encrypts, and its id is stored with the value. Ids reveal nothing about the keys. */
  abstract readonly keyIds: readonly [string, ...string[]];

  /** Encrypts a secret. @param purpose bound to the result, which cannot be opened for another purpose */
  abstract seal(secret: string, purpose: string): string;

  /** Returns whether the current key encrypted the value. Meant for values that have no stored key id. */
  abstract isCurrent(sealed: string, purpose: string): boolean;

  /** Decrypts a value. @param sealedBy the key to try first @throws Error for changed values, or another key or purpose */
  abstract open(sealed: string, purpose: string, sealedBy?: string): string;
}

/** Says when rows of a table are deleted. An index must lead to the oldest rows. */
export interface RetentionRule<Column extends string = string, TimeColumn extends string = string> {
  readonly what: string;
  readonly since: TimeColumn;
  readonly keptMs: number;
  readonly only?: { readonly column: Column; readonly words: readonly string[] };
  readonly unlessIn?: { readonly table: string; readonly column: string };
}

export abstract class Retention {
  /** Deletes rows older than `before` in slices, so that other writes do not wait. @returns how many */
  abstract sweep(table: string, before: Date, isStopping?: () => boolean): Promise<number>;

  /** Returns the time from which the oldest row ages, even if `sweep` would keep it; undefined without such rows. */
  abstract oldest(table: string): Promise<Date | undefined>;
}

/** An outside system is unreachable or overloaded. It may have stored the change; a retry may help. */
export class Unavailable extends Error {
  override readonly name = 'Unavailable';
  readonly what: string;

  constructor(what: string, cause: unknown, problem = 'cannot be reached') {
    super(`${what} ${problem}`, { cause });
    this.what = what;
  }
}

/** The request's deadline passed. The outside system may be healthy. */
export class OutOfTime extends Unavailable {
  constructor(what: string) {
    super(what, undefined, 'did not answer before the deadline of the request');
  }
}
