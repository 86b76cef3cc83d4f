import { AsyncLocalStorage } from 'node:async_hooks';
import type { Kysely } from 'kysely';
import type { Acting } from '../../kernel/acting.ts';
import { Unavailable } from '../../kernel/unavailable.ts';
import type { Database } from './database.ts';
import type { Schema } from './schema.ts';

interface Waiting {
  /** @returns tells its caller what came of it, once it is stored */
  readonly write: (db: Kysely<Schema>) => Promise<() => void>;
  /** Stores it by itself, and tells its caller. */
  readonly alone: () => void;
  readonly failed: (error: unknown) => void;
}

/** What is written sooner after the last time waits for others to come along. */
const pauseMs = 20;
/** They delay other writers, and on SQLite everything else too. */
const mostAtOnce = 25;

/**
 * Stores what comes at about the same time in one transaction. On SQLite each transaction waits for the disk, and
 * the whole process with it: many small ones in a row would keep it from answering anybody. Who comes first does
 * not wait. When one fails, all that were together are done again one by one, so that nobody fails for another.
 */
export class JointWrites {
  readonly #database: Database;
  readonly #acting: Acting | undefined;
  readonly #waiting: Waiting[] = [];
  /** What is stored for several has the deadline of none of them. */
  readonly #forNobody = AsyncLocalStorage.snapshot();
  #isPlanned = false;
  #lastAt = -Infinity;

  /** @param acting whose events are stored by what is written; absent where nothing stores any */
  constructor(database: Database, acting?: Acting) {
    this.#database = database;
    this.#acting = acting;
  }

  /** As `Database.transaction`: `work` may run several times. @throws Unavailable */
  transaction<T>(work: (db: Kysely<Schema>) => Promise<T>): Promise<T> {
    // Elsewhere transactions run side by side, and would lock in the order of their coming.
    if (this.#database.kind !== 'sqlite' || this.#database.isInTransaction) {
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
        // One by one, each would wait as long once more; so would those who came meanwhile.
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
