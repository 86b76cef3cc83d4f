import { AsyncLocalStorage } from 'node:async_hooks';
import { Kysely, sql, type Compilable, type CompiledQuery, type Transaction } from 'kysely';
import { Unavailable } from '../../kernel/unavailable.ts';
import type { Engine } from './engine.ts';
import { failureOf, type Failure } from './failure.ts';
import { openMysql } from './mysql-engine.ts';
import { openSqlite } from './sqlite-engine.ts';
import type { Schema } from './schema.ts';

const mostTries = 5;

interface Ambient {
  readonly transaction: Transaction<Schema>;
  /** Runs once the transaction is stored; forgotten when it is not. */
  readonly afterCommit: Set<() => void>;
}

/** One database, and the transaction that the current call is in. */
export class Database {
  readonly kind: Engine['kind'];
  readonly #root: Kysely<Schema>;
  readonly #readCommitted: Engine['readCommitted'];
  readonly #ambient = new AsyncLocalStorage<Ambient>();

  /**
   * @param url `sqlite:PATH`, or `mysql://user:password@host:port/name`
   * @param patient for migrations, and on machines of any speed: no query has a deadline
   */
  constructor(url: string, { patient = false } = {}) {
    const { kind, dialect, readCommitted } = url.startsWith('sqlite:')
      ? openSqlite(url.slice('sqlite:'.length), patient)
      : openMysql(url, patient);
    this.kind = kind;
    this.#root = new Kysely<Schema>({ dialect });
    this.#readCommitted = readCommitted;
  }

  /** For migrations only: everything else goes through `run` and `transaction`. */
  get root(): Kysely<Schema> {
    return this.#root;
  }

  /** Whether the current call is in a transaction. */
  get isInTransaction(): boolean {
    return this.#ambient.getStore() !== undefined;
  }

  /** Runs queries in the current transaction, or by themselves. @throws Unavailable */
  run<T>(work: (db: Kysely<Schema>) => Promise<T>): Promise<T> {
    const current = this.#ambient.getStore();
    return current ? work(current.transaction) : guard(work(this.#root));
  }

  /**
   * Everything that `work` does through this database is stored together or not at all. Inside another
   * transaction it joins that. `work` may run several times (deadlock), so it does nothing but queries.
   * @throws Unavailable
   */
  async transaction<T>(work: (db: Kysely<Schema>) => Promise<T>): Promise<T> {
    const current = this.#ambient.getStore();
    if (current) return work(current.transaction);
    for (let tried = 1; ; tried++) {
      const afterCommit = new Set<() => void>();
      try {
        const result = await this.#root
          .transaction()
          .execute((transaction) =>
            this.#ambient.run({ transaction, afterCommit }, () => work(transaction)),
          );
        for (const action of afterCommit) action();
        return result;
      } catch (error) {
        if (failureOf(error) !== 'conflict' || tried === mostTries) throw translated(error);
      }
    }
  }

  /** Inside a transaction: `action` runs once when that is stored. */
  afterCommit(action: () => void): void {
    const current = this.#ambient.getStore();
    if (!current) throw new Error('afterCommit needs a transaction');
    current.afterCommit.add(action);
  }

  /**
   * Compiles a reading query once. `build` names its parameters; the returned function takes their values.
   * Building a query costs more than running it on SQLite. So does planning it, which SQLite does anew each
   * time a parameter is bound that it looked at while planning; a plus sign keeps it from looking.
   */
  prepare<Parameters extends Readonly<Record<string, unknown>>, Row>(
    build: (
      db: Kysely<Schema>,
      parameter: <Name extends keyof Parameters & string>(name: Name) => Parameters[Name],
    ) => Compilable<Row>,
  ): (values: Parameters) => Promise<Row[]> {
    const compiled = build(this.#root, (name) => {
      const slot = new Placeholder(name);
      return (this.kind === 'sqlite' ? sql`+${slot}` : slot) as never;
    }).compile();
    const slots = compiled.parameters;
    const readCommitted = this.#readCommitted;
    return async (values) => {
      const parameters = slots.map((slot) =>
        slot instanceof Placeholder ? values[slot.name] : slot,
      );
      if (readCommitted && !this.#ambient.getStore()) {
        return readNow(() => readCommitted(compiled.sql, parameters) as Row[]);
      }
      const query: CompiledQuery<Row> = { ...compiled, parameters };
      return (await this.run((db) => db.executeQuery(query))).rows;
    };
  }

  /** @throws Unavailable */
  async ping(): Promise<void> {
    await guard(sql`select 1`.execute(this.#root));
  }

  close(): Promise<void> {
    return this.#root.destroy();
  }
}

class Placeholder {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

const readNow = <T>(read: () => T): T => {
  try {
    return read();
  } catch (error) {
    throw translated(error);
  }
};

const guard = async <T>(work: Promise<T>): Promise<T> => {
  try {
    return await work;
  } catch (error) {
    throw translated(error);
  }
};

const unreachable: readonly Failure[] = ['unavailable', 'conflict', 'lock_timeout'];

const translated = (error: unknown): unknown => {
  const failure = failureOf(error);
  return unreachable.includes(failure) ? new Unavailable('The database', error) : error;
};
