import { setTimeout as delay } from 'node:timers/promises';
import type { Kysely } from 'kysely';
import type { Database } from './database.ts';
import type { Schema } from './schema.ts';

/**
 * Starts transactions that nobody waits for at most every `gatherMs` of the database, so that they are stored together: on SQLite each commit
 * blocks the whole process until the disk is done. The first one starts at once.
 */
export class JointWrites {
  readonly #database: Database;
  #startedAt = -Infinity;
  #nextStart: Promise<void> | undefined;

  constructor(database: Database) {
    this.#database = database;
  }

  /** As `Database.transaction`. @throws Unavailable */
  async transaction<T>(work: (db: Kysely<Schema>) => Promise<T>): Promise<T> {
    const { engine, isInTransaction } = this.#database;
    // Servers run transactions in parallel, and do not block this process.
    if (engine.isInProcess && !isInTransaction) await (this.#nextStart ??= this.#start());
    return this.#database.transaction(work);
  }

  async #start(): Promise<void> {
    await delay(Math.max(0, this.#startedAt + this.#database.gatherMs - performance.now()));
    this.#startedAt = performance.now();
    this.#nextStart = undefined;
  }
}
