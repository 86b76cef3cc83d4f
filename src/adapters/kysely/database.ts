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
import { openEngine, type Engine } from './engine/engine.ts';
import { maybe, time, type StoredTables } from './table.ts';
import type * as access from './access/tables.ts';
import type * as notifications from './notifications/tables.ts';
import type * as sites from './sites/tables.ts';
import type * as others from './tables.ts';

export type Schema = StoredTables<
  typeof access & typeof notifications & typeof sites & typeof others
>;

export const toMillis = time.write;
export const fromMillis = time.read;
export const fromMillisOrNull = maybe(time).read;

export type Queries = QueryCreator<Schema>;

interface Ambient {
  readonly transaction: Transaction<Schema>;
  /** A rollback drops these actions. */
  readonly afterCommit: Set<() => void>;
  readonly execute: Execute;
}

type LockableTable = {
  [Name in keyof Schema]: Schema[Name] extends { id: string } ? Name : never;
}[keyof Schema];
type Lock = (values: { readonly id: string }) => Promise<readonly object[]>;

type Execute = <Row>(query: CompiledQuery<Row>) => Promise<QueryResult<Row>>;

export interface DatabaseOptions {
  /** With `patient`, queries have no deadline. */
  readonly patient?: boolean;
  readonly onOutage?: OutageListener;
  /** How long SQLite gathers transactions that nobody awaits. Default: 20 ms. */
  readonly gatherMs?: number;
  readonly deadline?: Pick<Deadline, 'leftMs'>;
  readonly tracer?: Tracer | undefined;
}

export class Database {
  readonly engine: Engine;
  /** For migrations only. Everything else uses `db`, `run` and `transaction`. */
  readonly root: Kysely<Schema>;
  readonly #gatherMs: number;
  readonly #alone: Queries;
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
    this.engine = openEngine(url, { patient, deadline, tracer });
    this.root = new Kysely<Schema>({ dialect: this.engine.connections.dialect });
    const executor = this.root.getExecutor();
    this.#alone = new QueryCreator<Schema>({
      executor: executor.withConnectionProvider({
        provideConnection: (use) => this.#guard(() => executor.provideConnection(use)),
      }),
    });
  }

  get isInTransaction(): boolean {
    return this.#ambient.getStore() !== undefined;
  }

  /** Queries in the current transaction, or without one. @throws Unavailable */
  get db(): Queries {
    return this.#ambient.getStore()?.transaction ?? this.#alone;
  }

  /** Runs raw SQL in the current transaction, or without one. @throws Unavailable */
  run<T>(work: (db: Kysely<Schema>) => Promise<T>): Promise<T> {
    const current = this.#ambient.getStore();
    return current ? work(current.transaction) : this.#guard(() => work(this.root));
  }

  /**
   * Stores everything that `work` does, or nothing. Joins an open transaction. After a deadlock `work` runs again, so
   * it may only query.
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
   * Does the same as `transaction` for work that nobody awaits. A SQLite commit blocks the process, so these
   * transactions share one commit every `gatherMs`.
   */
  async batched<T>(work: (db: Kysely<Schema>) => Promise<T>): Promise<T> {
    // A database server does not block this process.
    if (this.engine.isInProcess && !this.isInTransaction)
      await (this.#nextBatch ??= this.#startBatch());
    return this.transaction(work);
  }

  /** Runs `action` once after the commit. */
  afterCommit(action: () => void): void {
    const current = this.#ambient.getStore();
    if (!current) throw new Error('afterCommit needs a transaction');
    current.afterCommit.add(action);
  }

  /** Compiles a query once. */
  prepare<Parameters extends Values, Row>(
    build: Build<Schema, Parameters, Row>,
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

  prepareWrite<Parameters extends Values>(
    build: Build<Schema, Parameters, unknown>,
  ): (values: Parameters) => Promise<QueryResult<unknown>> {
    const queryWith = compileOnce(this.root, build);
    return (values) => this.#execute(queryWith(values));
  }

  /** Compiles a statement whose answer is not needed; see `withNext`. */
  prepareWithNext<Parameters extends Values>(
    build: Build<Schema, Parameters, unknown>,
  ): (values: Parameters) => Promise<unknown> {
    return this.prepareWrite<Parameters>((db, the) => withNext(build(db, the)));
  }

  /** Excludes changes, removal and locks by others until the transaction ends. Lock accounts before projects. */
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

  /** Bypasses Kysely's queue in this process, because it would take longer than the statements. */
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
