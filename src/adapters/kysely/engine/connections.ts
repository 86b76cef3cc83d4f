import type { CompiledQuery, Dialect } from 'kysely';
import { traced, type Step, type StepFacts, type Tracer } from '../../../kernel/tracer.ts';

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

/** Makes a step of each query and each commit. */
export const tracedConnections = (
  connections: Connections,
  tracer: Tracer,
  database: StepFacts,
): Connections => {
  const { dialect } = connections;
  const stepFor = stepsOf(database);
  const facts = { ...database, 'db.operation.name': 'COMMIT' };
  const commit: Step = { name: 'COMMIT', kind: 'client', facts };
  return {
    ...traced(connections, tracer, { readCommitted: stepFor }),
    dialect: {
      ...dialect,
      createDriver: () => {
        const driver = dialect.createDriver();
        return {
          ...traced(driver, tracer, { commitTransaction: () => commit }),
          acquireConnection: async () =>
            traced(await driver.acquireConnection(), tracer, { executeQuery: stepFor }),
        };
      },
    },
  };
};

const stepsOf = (database: StepFacts): ((query: CompiledQuery) => Step) => {
  const known = new WeakMap<object, Step>();
  return (query) => {
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
