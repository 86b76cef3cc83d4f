import {
  sql,
  type AliasedRawBuilder,
  type Expression,
  type InsertQueryBuilder,
  type InsertResult,
  type RawBuilder,
} from 'kysely';
import type { Deadline } from '../../../kernel/ports.ts';
import type { Tracer } from '../../../kernel/tracer.ts';
import { tracedConnections, type Connections } from './connections.ts';
import { fileIn, kindOfUrl, factsOf, type DatabaseKind } from './database-kind.ts';
import { openMysql } from './mysql-engine.ts';
import { openSqlite } from './sqlite-engine.ts';

interface OpenOptions {
  readonly patient: boolean;
  readonly deadline: Pick<Deadline, 'leftMs'>;
  readonly tracer?: Tracer | undefined;
}

interface Upsert<Schema, Table extends keyof Schema> {
  readonly insert: InsertQueryBuilder<Schema, Table, InsertResult>;
  readonly key: readonly (keyof Schema[Table] & string)[];
  readonly change: Readonly<Partial<Record<keyof Schema[Table], Expression<unknown>>>>;
}

interface Inserted {
  readonly insertId?: bigint | undefined;
}

/** All differences between the databases. */
interface Differences {
  /** True if reads are cheap and a write blocks the process. */
  readonly isInProcess: boolean;
  open(url: string, options: OpenOptions): Connections;
  /** Locks the query's rows until the transaction ends. */
  locked<Query extends { forUpdate(): Query }>(query: Query): Query;
  by<Row, Name extends string>(table: Name, index: string): AliasedRawBuilder<Row, Name>;
  /** Hides the parameter's value from the query planner, so that it plans only once. */
  plannedOnce(parameter: unknown): unknown;
  /** The first of the ids that one statement has assigned to several rows. */
  firstInsertedId(inserted: Inserted, rows: number): bigint;
  upsert<Schema, Table extends keyof Schema>(
    upsert: Upsert<Schema, Table>,
  ): Upsert<Schema, Table>['insert'];
  /** An exact sum; null without rows. */
  sum(column: string): RawBuilder<bigint | null>;
  /** Epoch milliseconds; undefined without a server. */
  clock(): RawBuilder<{ readonly ms: unknown }> | undefined;
}

export type Engine = Omit<Differences, 'open'> & {
  readonly connections: Connections;
  readonly insertedId: typeof insertedId;
};

/** @param url `sqlite:PATH`, or `mysql://user:password@host:port/name` */
export const openEngine = (url: string, options: OpenOptions): Engine => {
  const { open, ...differences } = differencesOf[kindOfUrl(url)];
  const connections = open(url, options);
  const { tracer } = options;
  return {
    ...differences,
    insertedId,
    connections: tracer ? tracedConnections(connections, tracer, factsOf(url)) : connections,
  };
};

const insertedId = ({ insertId }: Inserted): bigint => {
  if (insertId === undefined) throw new Error('the database assigned no id');
  return insertId;
};

const byIndex = <Row, Name extends string>(table: Name, index: RawBuilder<unknown>) => {
  const name = sql.table(table);
  return sql<Row>`${name}`.as<Name>(sql`${name} ${index}`);
};

const differencesOf: Readonly<Record<DatabaseKind, Differences>> = {
  sqlite: {
    isInProcess: true,
    open: (url, { patient, deadline }) => openSqlite(fileIn(url), patient, deadline),
    // No locks are needed, because a transaction is the only writer.
    locked: (query) => query,
    by: (table, index) => byIndex(table, sql`indexed by ${sql.ref(index)}`),
    // SQLite plans again when the value of a parameter changes that it has seen. A unary plus hides the value.
    plannedOnce: (parameter) => sql`+${parameter}`,
    // SQLite reports the last id, and no other writer runs meanwhile.
    firstInsertedId: (inserted, rows) => insertedId(inserted) - BigInt(rows - 1),
    upsert: ({ insert, key, change }) =>
      insert.onConflict((row) => row.columns([...key]).doUpdateSet(change as never)),
    sum: (column) => sql`sum(${sql.ref(column)})`,
    clock: () => undefined,
  },
  mysql: {
    isInProcess: false,
    open: (url, { patient, deadline }) => openMysql(url, patient, deadline),
    locked: (query) => query.forUpdate(),
    by: (table, index) => byIndex(table, sql`force index (${sql.ref(index)})`),
    plannedOnce: (parameter) => parameter,
    firstInsertedId: insertedId,
    upsert: ({ insert, change }) => insert.onDuplicateKeyUpdate(change as never),
    // Without the cast, the sum is a decimal.
    sum: (column) => sql`cast(sum(${sql.ref(column)}) as signed)`,
    clock: () => sql`select round(unix_timestamp(now(3)) * 1000) as ms`,
  },
};
