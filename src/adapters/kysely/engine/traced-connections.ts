import type {
  CompiledQuery,
  DatabaseConnection,
  Driver,
  QueryResult,
  TransactionSettings,
} from 'kysely';
import type { Step, StepFacts, Tracer } from '../../../kernel/tracer.ts';
import type { Connections } from './connections.ts';
import { tablesOf } from './statement-tables.ts';

/** The same connections; each statement and each commit is a step. */
export const tracedConnections = (
  connections: Connections,
  tracer: Tracer,
  database: StepFacts,
): Connections => {
  const { dialect } = connections;
  const steps = new StatementSteps(database);
  const traced: Traced = (query, work) =>
    tracer.isRecording ? tracer.step(steps.of(query), work) : work();
  return {
    ...connections,
    dialect: {
      createAdapter: () => dialect.createAdapter(),
      createDriver: () => new TracedDriver(dialect.createDriver(), traced),
      createIntrospector: (db) => dialect.createIntrospector(db),
      createQueryCompiler: () => dialect.createQueryCompiler(),
    },
    readCommitted: (query) => traced(query, () => connections.readCommitted(query)),
  };
};

type Traced = <T>(query: CompiledQuery | 'commit', work: () => Promise<T>) => Promise<T>;

class TracedDriver implements Driver {
  readonly #driver: Driver;
  readonly #traced: Traced;

  constructor(driver: Driver, traced: Traced) {
    this.#driver = driver;
    this.#traced = traced;
  }

  init(): Promise<void> {
    return this.#driver.init();
  }

  async acquireConnection(): Promise<TracedConnection> {
    return new TracedConnection(await this.#driver.acquireConnection(), this.#traced);
  }

  beginTransaction({ inner }: TracedConnection, settings: TransactionSettings): Promise<void> {
    return this.#driver.beginTransaction(inner, settings);
  }

  commitTransaction({ inner }: TracedConnection): Promise<void> {
    return this.#traced('commit', () => this.#driver.commitTransaction(inner));
  }

  rollbackTransaction({ inner }: TracedConnection): Promise<void> {
    return this.#driver.rollbackTransaction(inner);
  }

  releaseConnection({ inner }: TracedConnection): Promise<void> {
    return this.#driver.releaseConnection(inner);
  }

  destroy(): Promise<void> {
    return this.#driver.destroy();
  }
}

class TracedConnection implements DatabaseConnection {
  readonly inner: DatabaseConnection;
  readonly #traced: Traced;

  constructor(inner: DatabaseConnection, traced: Traced) {
    this.inner = inner;
    this.#traced = traced;
  }

  executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
    return this.#traced(query, () => this.inner.executeQuery<Row>(query));
  }

  streamQuery<Row>(
    query: CompiledQuery,
    chunkSize: number,
  ): AsyncIterableIterator<QueryResult<Row>> {
    return this.inner.streamQuery<Row>(query, chunkSize);
  }
}

/** What is said of each statement; once, where it is compiled once. */
class StatementSteps {
  readonly #database: StepFacts;
  readonly #commit: Step;
  readonly #known = new WeakMap<object, Step>();

  constructor(database: StepFacts) {
    this.#database = database;
    const facts = { ...database, 'db.operation.name': 'COMMIT' };
    this.#commit = { name: 'COMMIT', kind: 'client', facts };
  }

  of(query: CompiledQuery | 'commit'): Step {
    if (query === 'commit') return this.#commit;
    const known = this.#known.get(query.query);
    if (known) return known;
    const step = this.#stepOf(query);
    this.#known.set(query.query, step);
    return step;
  }

  /** Values are never in the text: Kysely puts placeholders there. */
  #stepOf({ sql, query }: CompiledQuery): Step {
    const operation = (/\w+/.exec(sql)?.[0] ?? '').toUpperCase();
    const tables = tablesOf(query);
    const [only] = tables.length === 1 ? tables : [];
    return {
      name: [operation, ...tables].join(' '),
      kind: 'client',
      facts: {
        ...this.#database,
        'db.operation.name': operation,
        ...(only !== undefined && { 'db.collection.name': only }),
        'db.query.text': sql,
      },
    };
  }
}
