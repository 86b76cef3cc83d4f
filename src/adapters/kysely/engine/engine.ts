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

/** An insert into one table, with columns that identify a row. */
interface Upsert<Schema, Table extends keyof Schema> {
  readonly insert: InsertQueryBuilder<Schema, Table, InsertResult>;
  readonly key: readonly (keyof Schema[Table] & string)[];
  /** What changes if the row is there. */
  readonly change: Readonly<Partial<Record<keyof Schema[Table], Expression<unknown>>>>;
}

/** One database, and every statement that the kinds of databases need in different words. */
export class Engine {
  readonly connections: Connections;
  readonly #kind: DatabaseKind;

  /** @param url `sqlite:PATH`, or `mysql://user:password@host:port/name` */
  constructor(url: string, options: OpenOptions) {
    this.#kind = kindOfUrl(url);
    const connections = open(this.#kind, url, options);
    const { tracer } = options;
    this.connections = tracer ? tracedConnections(connections, tracer, factsOf(url)) : connections;
  }

  /** Whether it runs inside this process: a read costs next to nothing, and a write blocks the whole process. */
  get isInProcess(): boolean {
    switch (this.#kind) {
      case 'sqlite':
        return true;
      case 'mysql':
        return false;
    }
  }

  /** The rows of this query stay locked until the transaction ends. */
  readonly locked = <Query extends { forUpdate(): Query }>(query: Query): Query => {
    switch (this.#kind) {
      case 'sqlite':
        // A transaction is the only writer from its beginning.
        return query;
      case 'mysql':
        return query.forUpdate();
    }
  };

  /** A table, read by this index whatever the database guesses of its rows. */
  by<Row, Name extends string>(table: Name, index: string): AliasedRawBuilder<Row, Name> {
    const name = sql.table(table);
    switch (this.#kind) {
      case 'sqlite':
        return sql<Row>`${name}`.as(sql`${name} indexed by ${sql.ref(index)}`);
      case 'mysql':
        return sql<Row>`${name}`.as(sql`${name} force index (${sql.ref(index)})`);
    }
  }

  /** The statement is planned once, whatever the value of this parameter. */
  readonly plannedOnce = (parameter: unknown): unknown => {
    switch (this.#kind) {
      case 'sqlite':
        // SQLite plans again when a parameter changes whose value the plan used. A unary plus hides the value.
        return sql`+${parameter}`;
      case 'mysql':
        return parameter;
    }
  };

  /** The id that the database assigned to an inserted row. */
  insertedId({ insertId }: { readonly insertId?: bigint | undefined }): bigint {
    if (insertId === undefined) throw new Error('the database assigned no id');
    return insertId;
  }

  /** Of several rows that one statement inserted. */
  firstInsertedId(inserted: { readonly insertId?: bigint | undefined }, rows: number): bigint {
    switch (this.#kind) {
      case 'sqlite':
        // It tells the last one, and nobody else writes meanwhile.
        return this.insertedId(inserted) - BigInt(rows - 1);
      case 'mysql':
        return this.insertedId(inserted);
    }
  }

  /** Inserts a row, or changes the row that has the same key. */
  upsert<Schema, Table extends keyof Schema>({
    insert,
    key,
    change,
  }: Upsert<Schema, Table>): Upsert<Schema, Table>['insert'] {
    switch (this.#kind) {
      case 'sqlite':
        return insert.onConflict((row) => row.columns([...key]).doUpdateSet(change as never));
      case 'mysql':
        return insert.onDuplicateKeyUpdate(change as never);
    }
  }

  /** The exact sum of an integer column; null over no rows. */
  sum(column: string): RawBuilder<bigint | null> {
    switch (this.#kind) {
      case 'sqlite':
        return sql`sum(${sql.ref(column)})`;
      case 'mysql':
        // Otherwise it is a decimal.
        return sql`cast(sum(${sql.ref(column)}) as signed)`;
    }
  }

  /** The database's own clock in epoch milliseconds; undefined if it has none. */
  clock(): RawBuilder<{ readonly ms: unknown }> | undefined {
    switch (this.#kind) {
      case 'sqlite':
        return undefined;
      case 'mysql':
        return sql`select round(unix_timestamp(now(3)) * 1000) as ms`;
    }
  }
}

const open = (kind: DatabaseKind, url: string, { patient, deadline }: OpenOptions): Connections => {
  switch (kind) {
    case 'sqlite':
      return openSqlite(fileIn(url), patient, deadline);
    case 'mysql':
      return openMysql(url, patient, deadline);
  }
};
