import type { CompiledQuery, Dialect, DatabaseConnection, Driver } from 'kysely';
import type { Step, StepFacts, Tracer } from '../../../kernel/tracer.ts';

export interface PoolLoad {
  readonly all: number;
  readonly busy: number;
  readonly waiting: number;
}

export interface Connections {
  readonly dialect: Dialect;
  /** Reads committed data. SQLite answers in the same turn; MySQL prepares the query. */
  readonly readCommitted: (query: CompiledQuery) => Promise<unknown[]>;
  /** On SQLite it describes only the writing connection. */
  readonly load: () => PoolLoad;
  /** Call it after the driver was destroyed. */
  readonly close: () => Promise<void>;
}

export const tracedConnections = (
  connections: Connections,
  tracer: Tracer,
  database: StepFacts,
): Connections => {
  const { dialect } = connections;
  const stepFor = stepsOf(database);
  const traced: Traced = (query, work) =>
    tracer.isRecording ? tracer.step(stepFor(query), work) : work();
  return {
    ...connections,
    dialect: {
      createAdapter: () => dialect.createAdapter(),
      createDriver: () => tracedDriver(dialect.createDriver(), traced),
      createIntrospector: (db) => dialect.createIntrospector(db),
      createQueryCompiler: () => dialect.createQueryCompiler(),
    },
    readCommitted: (query) => traced(query, () => connections.readCommitted(query)),
  };
};

type Traced = <T>(query: CompiledQuery | 'commit', work: () => Promise<T>) => Promise<T>;

interface TracedConnection extends DatabaseConnection {
  readonly inner: DatabaseConnection;
}

const tracedDriver = (driver: Driver, traced: Traced): Driver => ({
  init: () => driver.init(),
  acquireConnection: async () => tracedConnection(await driver.acquireConnection(), traced),
  beginTransaction: ({ inner }: TracedConnection, settings) =>
    driver.beginTransaction(inner, settings),
  commitTransaction: ({ inner }: TracedConnection) =>
    traced('commit', () => driver.commitTransaction(inner)),
  rollbackTransaction: ({ inner }: TracedConnection) => driver.rollbackTransaction(inner),
  releaseConnection: ({ inner }: TracedConnection) => driver.releaseConnection(inner),
  destroy: () => driver.destroy(),
});

const tracedConnection = (inner: DatabaseConnection, traced: Traced): TracedConnection => ({
  inner,
  executeQuery: <Row>(query: CompiledQuery) => traced(query, () => inner.executeQuery<Row>(query)),
  streamQuery: <Row>(query: CompiledQuery, chunkSize: number) =>
    inner.streamQuery<Row>(query, chunkSize),
});

const stepsOf = (database: StepFacts): ((query: CompiledQuery | 'commit') => Step) => {
  const facts = { ...database, 'db.operation.name': 'COMMIT' };
  const commit: Step = { name: 'COMMIT', kind: 'client', facts };
  const known = new WeakMap<object, Step>();
  return (query) => {
    if (query === 'commit') return commit;
    const step = known.get(query.query) ?? stepOf(query, database);
    known.set(query.query, step);
    return step;
  };
};

const stepOf = ({ sql }: CompiledQuery, database: StepFacts): Step => {
  const operation = (/\w+/.exec(sql)?.[0] ?? '').toUpperCase();
  const tables = tablesIn(sql);
  const [only] = tables.length === 1 ? tables : [];
  return {
    name: [operation, ...tables].join(' '),
    kind: 'client',
    facts: {
      ...database,
      'db.operation.name': operation,
      ...(only !== undefined && { 'db.collection.name': only }),
      'db.query.text': sql,
    },
  };
};

const tablesIn = (sql: string): readonly string[] => {
  const named = sql.matchAll(/\b(?:from|into|update|join|table) ["`](\w+)["`]/g);
  return [...new Set(Array.from(named, ([, table = '']) => table))];
};
