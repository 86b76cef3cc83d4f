import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import {
  Kysely,
  QueryCreator,
  sql,
  type CompiledQuery,
  type QueryResult,
  type Selectable,
  type Transaction,
} from 'kysely';
import { noDeadline, type Deadline } from '../../kernel/ports.ts';
import type { Tracer } from '../../kernel/tracer.ts';
import {
  pauseAfter,
  translated,
  failureOf,
  Outage,
  type OutageListener,
} from './engine/failure.ts';
import { compileOnce, withNext, type Build, type Values } from './engine/statements.ts';
import { Engine } from './engine/engine.ts';
import type { Schema } from './schema.ts';

/** What queries begin with. */
export type Queries = QueryCreator<Schema>;

interface Ambient {
  readonly transaction: Transaction<Schema>;
  /** Actions to run after the commit; dropped on a rollback. */
  readonly afterCommit: Set<() => void>;
  readonly execute: Execute;
}

type LockableTable = {
  [Name in keyof Schema]: Schema[Name] extends { id: string } ? Name : never;
}[keyof Schema];
type Lock = (values: { readonly id: string }) => Promise<readonly object[]>;

type Execute = <Row>(query: CompiledQuery<Row>) => Promise<QueryResult<Row>>;

export interface DatabaseOptions {
  /** For migrations, and on machines of any speed: no query has a deadline. */
  readonly patient?: boolean;
  readonly onOutage?: OutageListener;
  /** For how long SQLite gathers transactions that nobody waits for; 20 ms by default. A disk in memory needs none. */
  readonly gatherMs?: number;
  /** The deadline of the current call; no wait lasts longer. */
  readonly deadline?: Pick<Deadline, 'leftMs'>;
  /** Each statement is a step. */
  readonly tracer?: Tracer | undefined;
}

/** One database, and the transaction that the current call is in. */
export class Database {
  readonly engine: Engine;
  /** For migrations only: everything else goes through `db`, `run` and `transaction`. */
  readonly root: Kysely<Schema>;
  readonly #gatherMs: number;
  readonly #alone: Queries;
  /** When batched transactions started last, and when the next ones do. */
  #batchedAt = -Infinity;
  #nextBatch: Promise<void> | undefined;
  readonly #ambient = new AsyncLocalStorage<Ambient>();
  readonly #locks = new Map<LockableTable, Lock>();
  readonly #outage: Outage;
  readonly #deadline: Pick<Deadline, 'leftMs'>;

  /** @param url `sqlite:PATH`, or `mysql://user:password@host:port/name` */
  constructor(url: string, options: DatabaseOptions = {}) {
    const { patient = false, onOutage, gatherMs = 20, deadline = noDeadline, tracer } = options;
    this.#gatherMs = gatherMs;
    this.#outage = new Outage(onOutage);
    this.#deadline = deadline;
    this.engine = new Engine(url, { patient, deadline, tracer });
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
        const pauseMs = pauseAfter(tried, error);
        if (pauseMs === undefined || pauseMs >= this.#deadline.leftMs) throw error;
        await delay(pauseMs);
      }
    }
  }

  /**
   * As `transaction`, for what nobody waits for. On SQLite each commit blocks the whole process until the disk is done, so
   * these start at most every `gatherMs` and share a commit. The first one starts at once.
   */
  async batched<T>(work: (db: Kysely<Schema>) => Promise<T>): Promise<T> {
    // Servers run transactions in parallel, and do not block this process.
    if (this.engine.isInProcess && !this.isInTransaction)
      await (this.#nextBatch ??= this.#startBatch());
    return this.transaction(work);
  }

  /** Inside a transaction: `action` runs once after the commit. */
  afterCommit(action: () => void): void {
    const current = this.#ambient.getStore();
    if (!current) throw new Error('afterCommit needs a transaction');
    current.afterCommit.add(action);
  }

  /** A query that is compiled once. @returns a function that takes the values of its parameters */
  prepare<Parameters extends Values, Row>(
    build: Build<Parameters, Row>,
  ): (values: Parameters) => Promise<Row[]> {
    const { connections, plannedOnce } = this.engine;
    const queryWith = compileOnce(this.root, build, plannedOnce);
    const { readCommitted } = connections;
    return async (values) => {
      const query = queryWith(values);
      if (!this.isInTransaction) {
        return this.#guard(() => readCommitted(query) as Promise<Row[]>);
      }
      return (await this.#execute(query)).rows;
    };
  }

  /** As `prepare`, for a statement that changes something. */
  prepareWrite<Parameters extends Values>(
    build: Build<Parameters, unknown>,
  ): (values: Parameters) => Promise<QueryResult<unknown>> {
    const queryWith = compileOnce(this.root, build);
    return (values) => this.#execute(queryWith(values));
  }

  /** As `prepareWrite`, for one whose answer is not needed (`withNext`). */
  prepareWithNext<Parameters extends Values>(
    build: Build<Parameters, unknown>,
  ): (values: Parameters) => Promise<unknown> {
    return this.prepareWrite<Parameters>((db, the) => withNext(build(db, the)));
  }

  /**
   * The row with this id. Until the transaction ends, no other one changes, removes or locks it. SQLite has one writer at
   * a time anyway. Accounts are always locked before projects.
   */
  async lock<Table extends LockableTable>(
    table: Table,
    id: string,
  ): Promise<Selectable<Schema[Table]> | undefined> {
    const lock = this.#locks.get(table) ?? this.#prepareLock(table);
    const [row] = await lock({ id });
    return row as Selectable<Schema[Table]> | undefined;
  }

  /** @throws Unavailable */
  async ping(): Promise<void> {
    await this.#guard(() => sql`select 1`.execute(this.root));
  }

  async close(): Promise<void> {
    await this.root.destroy();
    await this.engine.connections.close();
  }

  async #startBatch(): Promise<void> {
    await delay(Math.max(0, this.#batchedAt + this.#gatherMs - performance.now()));
    this.#batchedAt = performance.now();
    this.#nextBatch = undefined;
  }

  #prepareLock(table: LockableTable): Lock {
    const lock = this.prepare<{ id: string }, object>((db, the) =>
      db
        .selectFrom<LockableTable>(table)
        .selectAll()
        .where('id', '=', the('id'))
        .$call(this.engine.locked),
    );
    this.#locks.set(table, lock);
    return lock;
  }

  async #attempt<T>(work: (db: Kysely<Schema>) => Promise<T>): Promise<T> {
    const afterCommit = new Set<() => void>();
    const result = await this.root.transaction().execute(async (transaction) => {
      const execute = await this.#executeIn(transaction);
      return this.#ambient.run({ transaction, afterCommit, execute }, () => work(transaction));
    });
    for (const action of afterCommit) action();
    return result;
  }

  /** Within this process the shortest way: Kysely queues statements, which takes longer than running them. */
  async #executeIn(transaction: Transaction<Schema>): Promise<Execute> {
    if (!this.engine.isInProcess) return (query) => transaction.executeQuery(query);
    const executor = transaction.getExecutor();
    const connection = await executor.provideConnection((one) => Promise.resolve(one));
    return (query) => connection.executeQuery(query);
  }

  #execute<Row>(query: CompiledQuery<Row>): Promise<QueryResult<Row>> {
    const current = this.#ambient.getStore();
    return current ? current.execute(query) : this.#guard(() => this.root.executeQuery(query));
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
