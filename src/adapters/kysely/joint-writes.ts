import { AsyncLocalStorage } from 'node:async_hooks';
import type { Kysely } from 'kysely';
import type { Acting } from '../../kernel/acting.ts';
import { Unavailable } from '../../kernel/unavailable.ts';
import type { Database } from './database.ts';
import type { Schema } from './schema.ts';

interface Waiting {
  /** @returns a function that gives the caller its result; called after the commit */
  readonly write: (db: Kysely<Schema>) => Promise<() => void>;
  /** Stores it in its own transaction and answers the caller. */
  readonly alone: () => void;
  readonly failed: (error: unknown) => void;
}

/** Writes that follow the last one sooner than this are collected. */
const pauseMs = 20;
/** Limited, because a group delays other writers, and on SQLite the whole process. */
const mostAtOnce = 25;

/**
 * Groups writes that arrive at about the same time into one transaction. On SQLite each transaction blocks the whole
 * process until the disk is done, so many small ones in a row would stop it from answering. The first write does not
 * wait. If one fails, all of the group are repeated one by one, so that no write fails because of another.
 */
export class JointWrites {
  readonly #database: Database;
  readonly #acting: Acting | undefined;
  readonly #waiting: Waiting[] = [];
  /** A group runs outside its callers' contexts, so that no caller's deadline ends it. */
  readonly #forNobody = AsyncLocalStorage.snapshot();
  #isPlanned = false;
  #lastAt = -Infinity;

  /** @param acting the actor of stored events; omit it if the writes store none */
  constructor(database: Database, acting?: Acting) {
    this.#database = database;
    this.#acting = acting;
  }

  /** As `Database.transaction`: `work` may run several times. @throws Unavailable */
  transaction<T>(work: (db: Kysely<Schema>) => Promise<T>): Promise<T> {
    // Servers run transactions in parallel, and a group would lock rows in arrival order.
    if (!this.#database.engine.isInProcess || this.#database.isInTransaction) {
      return this.#database.transaction(work);
    }
    const own = this.#onBehalf(work);
    return new Promise((resolve, reject) => {
      this.#waiting.push({
        write: async (db) => {
          const result = await own(db);
          return () => {
            resolve(result);
          };
        },
        alone: () => {
          this.#database.transaction(own).then(resolve, reject);
        },
        failed: reject,
      });
      this.#plan();
    });
  }

  /** It runs later, in the async context of the first caller: this keeps its own context. */
  #onBehalf<T>(work: (db: Kysely<Schema>) => Promise<T>): typeof work {
    const acting = this.#acting;
    if (!acting) return work;
    const { actor } = acting;
    return (db) => acting.run(actor, () => work(db));
  }

  #plan(): void {
    if (this.#isPlanned || this.#waiting.length === 0) return;
    this.#isPlanned = true;
    const wait = this.#lastAt + pauseMs - performance.now();
    setTimeout(
      () => {
        this.#forNobody(() => void this.#store());
      },
      Math.max(0, wait),
    );
  }

  async #store(): Promise<void> {
    await this.#together(this.#waiting.splice(0, mostAtOnce));
    this.#lastAt = performance.now();
    this.#isPlanned = false;
    this.#plan();
  }

  /** Never rejects. */
  async #together(group: readonly Waiting[]): Promise<void> {
    const [first, ...others] = group;
    if (others.length === 0) {
      first?.alone();
      return;
    }
    try {
      const stored = await this.#database.transaction((db) => writeAll(db, group));
      for (const tell of stored) tell();
    } catch (error) {
      if (error instanceof Unavailable) {
        // Repeating them one by one would make each wait as long again, and those that arrived meanwhile too.
        for (const { failed } of [...group, ...this.#waiting.splice(0)]) failed(error);
      } else {
        for (const { alone } of group) alone();
      }
    }
  }
}

const writeAll = async (
  db: Kysely<Schema>,
  group: readonly Waiting[],
): Promise<readonly (() => void)[]> => {
  const written = [];
  for (const { write } of group) written.push(await write(db));
  return written;
};
