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

/** Every statement that differs between databases. */
export class Engine {
  readonly connections: Connections;
  readonly #kind: DatabaseKind;

  constructor(url: string, options: OpenOptions) {
    this.#kind = kindOfUrl(url);
    const connections = open(this.#kind, url, options);
    const { tracer } = options;
    this.connections = tracer ? tracedConnections(connections, tracer, factsOf(url)) : connections;
  }

  /** Reads are cheap, and a write blocks the process. */
  get isInProcess(): boolean {
    switch (this.#kind) {
      case 'sqlite':
        return true;
      case 'mysql':
        return false;
    }
  }

  readonly locked = <Query extends { forUpdate(): Query }>(query: Query): Query => {
    switch (this.#kind) {
      case 'sqlite':
        // A transaction is the only writer.
        return query;
      case 'mysql':
        return query.forUpdate();
    }
  };

  by<Row, Name extends string>(table: Name, index: string): AliasedRawBuilder<Row, Name> {
    const name = sql.table(table);
    switch (this.#kind) {
      case 'sqlite':
        return sql<Row>`${name}`.as(sql`${name} indexed by ${sql.ref(index)}`);
      case 'mysql':
        return sql<Row>`${name}`.as(sql`${name} force index (${sql.ref(index)})`);
    }
  }

  readonly plannedOnce = (parameter: unknown): unknown => {
    switch (this.#kind) {
      case 'sqlite':
        // SQLite plans again when the value of such a parameter changes. A unary plus hides the value.
        return sql`+${parameter}`;
      case 'mysql':
        return parameter;
    }
  };

  insertedId({ insertId }: { readonly insertId?: bigint | undefined }): bigint {
    if (insertId === undefined) throw new Error('the database assigned no id');
    return insertId;
  }

  firstInsertedId(inserted: { readonly insertId?: bigint | undefined }, rows: number): bigint {
    switch (this.#kind) {
      case 'sqlite':
        // SQLite reports the last id, and nobody else writes meanwhile.
        return this.insertedId(inserted) - BigInt(rows - 1);
      case 'mysql':
        return this.insertedId(inserted);
    }
  }

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

  /** Exact; null without rows. */
  sum(column: string): RawBuilder<bigint | null> {
    switch (this.#kind) {
      case 'sqlite':
        return sql`sum(${sql.ref(column)})`;
      case 'mysql':
        // Otherwise the sum is a decimal.
        return sql`cast(sum(${sql.ref(column)}) as signed)`;
    }
  }

  /** Epoch milliseconds; undefined without a server. */
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
