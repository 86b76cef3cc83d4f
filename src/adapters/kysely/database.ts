import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import {
  Kysely,
  QueryCreator,
  sql,
  type Compilable,
  type CompiledQuery,
  type Transaction,
} from 'kysely';
import { noDeadline, type Deadline } from '../../kernel/deadline.ts';
import { Unavailable } from '../../kernel/unavailable.ts';
import { Engine } from './engine/engine.ts';
import { failureOf, type Failure } from './engine/failure.ts';
import { Outage, type OutageListener } from './outage.ts';
import type { Schema } from './schema.ts';

/** For transactions that conflict repeatedly, as with many writers on several Galera members. */
const retries = { most: 12, firstPauseMs: 10, longestPauseMs: 250 };

/** What queries begin with. */
export type Queries = QueryCreator<Schema>;

interface Ambient {
  readonly transaction: Transaction<Schema>;
  /** Actions to run after the commit; dropped on a rollback. */
  readonly afterCommit: Set<() => void>;
}

export interface DatabaseOptions {
  /** For migrations, and on machines of any speed: no query has a deadline. */
  readonly patient?: boolean;
  readonly onOutage?: OutageListener;
  /** The deadline of the current call; no wait lasts longer. */
  readonly deadline?: Pick<Deadline, 'leftMs'>;
}

/** One database, and the transaction that the current call is in. */
export class Database {
  readonly engine: Engine;
  /** For migrations only: everything else goes through `db`, `run` and `transaction`. */
  readonly root: Kysely<Schema>;
  readonly #alone: Queries;
  readonly #ambient = new AsyncLocalStorage<Ambient>();
  readonly #outage: Outage;
  readonly #deadline: Pick<Deadline, 'leftMs'>;

  /** @param url `sqlite:PATH`, or `mysql://user:password@host:port/name` */
  constructor(url: string, options: DatabaseOptions = {}) {
    const { patient = false, onOutage, deadline = noDeadline } = options;
    this.#outage = new Outage(onOutage);
    this.#deadline = deadline;
    this.engine = new Engine(url, { patient, deadline });
    this.root = new Kysely<Schema>({ dialect: this.engine.connections.dialect });
    const executor = this.root.getExecutor();
    this.#alone = new QueryCreator<Schema>({
      executor: executor.withConnectionProvider({
        provideConnection: (use) => this.#guard(() => executor.provideConnection(use)),
      }),
    });
  }

  /** Whether the current call is in a transaction. */
  get isInTransaction(): boolean {
    return this.#ambient.getStore() !== undefined;
  }

  /** Queries that run in the current transaction, or by themselves; those reject with Unavailable. */
  get db(): Queries {
    return this.#ambient.getStore()?.transaction ?? this.#alone;
  }

  /** As `db`, for what takes more than queries. @throws Unavailable */
  run<T>(work: (db: Kysely<Schema>) => Promise<T>): Promise<T> {
    const current = this.#ambient.getStore();
    return current ? work(current.transaction) : this.#guard(() => work(this.root));
  }

  /**
   * Everything that `work` does through this database is stored together or not at all. Inside another
   * transaction it joins that. `work` may run several times (deadlock) while there is time, so it does nothing but
   * queries.
   * @throws Unavailable
   */
  async transaction<T>(work: (db: Kysely<Schema>) => Promise<T>): Promise<T> {
    const current = this.#ambient.getStore();
    if (current) return work(current.transaction);
    for (let tried = 1; ; tried++) {
      try {
        return await this.#guard(() => this.#attempt(work));
      } catch (error) {
        const pauseMs = pauseAfter(tried);
        if (!isConflict(error) || tried === retries.most) throw error;
        if (pauseMs >= this.#deadline.leftMs) throw error;
        await delay(pauseMs);
      }
    }
  }

  /** Inside a transaction: `action` runs once after the commit. */
  afterCommit(action: () => void): void {
    const current = this.#ambient.getStore();
    if (!current) throw new Error('afterCommit needs a transaction');
    current.afterCommit.add(action);
  }

  /**
   * Compiles a reading query once. `build` names its parameters; the returned function takes their values. Building a
   * query costs more than running it on SQLite.
   */
  prepare<Parameters extends Readonly<Record<string, unknown>>, Row>(
    build: (
      db: Kysely<Schema>,
      parameter: <Name extends keyof Parameters & string>(name: Name) => Parameters[Name],
    ) => Compilable<Row>,
  ): (values: Parameters) => Promise<Row[]> {
    const { connections, plannedOnce } = this.engine;
    const compiled = build(
      this.root,
      (name) => plannedOnce(new Placeholder(name)) as never,
    ).compile();
    const slots = compiled.parameters;
    const { readCommitted } = connections;
    return async (values) => {
      const parameters = slots.map((slot) =>
        slot instanceof Placeholder ? values[slot.name] : slot,
      );
      if (readCommitted && !this.#ambient.getStore()) {
        return this.#guard(() => readCommitted(compiled.sql, parameters) as Promise<Row[]>);
      }
      const query: CompiledQuery<Row> = { ...compiled, parameters };
      return (await this.run((db) => db.executeQuery(query))).rows;
    };
  }

  /** @throws Unavailable */
  async ping(): Promise<void> {
    await this.#guard(() => sql`select 1`.execute(this.root));
  }

  close(): Promise<void> {
    return this.root.destroy();
  }

  async #attempt<T>(work: (db: Kysely<Schema>) => Promise<T>): Promise<T> {
    const afterCommit = new Set<() => void>();
    const result = await this.root
      .transaction()
      .execute((transaction) =>
        this.#ambient.run({ transaction, afterCommit }, () => work(transaction)),
      );
    for (const action of afterCommit) action();
    return result;
  }

  /** @throws Unavailable */
  async #guard<T>(work: () => Promise<T>): Promise<T> {
    try {
      const result = await work();
      this.#outage.succeeded();
      return result;
    } catch (error) {
      if (failureOf(error) === 'unavailable') this.#outage.failed(error);
      throw translated(error);
    }
  }
}

class Placeholder {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

const unreachable: readonly Failure[] = ['unavailable', 'busy', 'conflict', 'lock_timeout'];

const translated = (error: unknown): unknown => {
  const failure = failureOf(error);
  return unreachable.includes(failure) ? new Unavailable('The database', error) : error;
};

const isConflict = (error: unknown): boolean =>
  error instanceof Unavailable && failureOf(error.cause) === 'conflict';

/** Random, because rivals with equal pauses would conflict again. */
const pauseAfter = (tried: number): number => {
  const { firstPauseMs, longestPauseMs } = retries;
  return Math.min(firstPauseMs * 2 ** tried, longestPauseMs) * (0.5 + Math.random() / 2);
};
