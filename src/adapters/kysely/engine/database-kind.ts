import { basename } from 'node:path';
import { MysqlAdapter, SqliteAdapter, type DialectAdapter, type Kysely } from 'kysely';
import type { StepFacts } from '../../../kernel/tracer.ts';

/** A new kind does not compile until every function in this folder handles it. */
export type DatabaseKind = 'sqlite' | 'mysql';

const marks: Readonly<
  Record<DatabaseKind, { readonly scheme: string; readonly adapter: new () => DialectAdapter }>
> = {
  sqlite: { scheme: 'sqlite:', adapter: SqliteAdapter },
  mysql: { scheme: 'mysql:', adapter: MysqlAdapter },
};

const kinds = Object.keys(marks) as DatabaseKind[];

/** @throws Error if the URL's kind is unknown */
export const kindOfUrl = (url: string): DatabaseKind =>
  known(kinds.find((kind) => url.startsWith(marks[kind].scheme)));

const kindOf = (db: Kysely<unknown>): DatabaseKind => {
  const { adapter } = db.getExecutor();
  return known(kinds.find((kind) => adapter instanceof marks[kind].adapter));
};

const known = (kind: DatabaseKind | undefined): DatabaseKind => {
  if (!kind) throw new Error(`the database is not one of ${kinds.join(', ')}`);
  return kind;
};

export const fileIn = (url: string): string => url.slice(marks.sqlite.scheme.length);

/** @returns undefined if a server holds the database */
export const databaseFile = (url: string): string | undefined => {
  switch (kindOfUrl(url)) {
    case 'sqlite':
      return fileIn(url);
    case 'mysql':
      return undefined;
  }
};

export const factsOf = (url: string): StepFacts => {
  const kind = kindOfUrl(url);
  switch (kind) {
    case 'sqlite':
      return { 'db.system.name': kind, 'db.namespace': basename(fileIn(url)) };
    case 'mysql': {
      const { hostname, port, pathname } = new URL(url);
      return {
        'db.system.name': kind,
        'db.namespace': pathname.slice(1),
        'server.address': hostname,
        'server.port': Number(port === '' ? 3306 : port),
      };
    }
  }
};

interface ColumnTypes {
  readonly text: (length: number) => string;
  readonly longText: string;
  readonly integer: string;
  readonly assigned: string;
  readonly end: string;
  readonly isIndexThere: (error: unknown) => boolean;
}

const types: Readonly<Record<DatabaseKind, ColumnTypes>> = {
  sqlite: {
    text: () => 'text',
    longText: 'text',
    integer: 'integer',
    assigned: 'integer not null primary key autoincrement',
    // Makes SQLite refuse values of a wrong type.
    end: 'strict',
    isIndexThere: () => false,
  },
  mysql: {
    text: (length) => `varchar(${String(length)})`,
    longText: 'longtext',
    integer: 'bigint',
    assigned: 'bigint not null auto_increment primary key',
    end: 'character set utf8mb4 collate utf8mb4_bin',
    isIndexThere: (error) => (error as { code?: unknown }).code === 'ER_DUP_KEYNAME',
  },
};

export const columnTypes = (db: Kysely<unknown>): ColumnTypes => types[kindOf(db)];
