import type { Kysely } from 'kysely';
import { kindOf, type DatabaseKind } from './database-kind.ts';

interface ColumnTypes {
  readonly text: (length: number) => string;
  readonly longText: string;
  readonly integer: string;
  /** With its constraints. */
  readonly assigned: string;
  /** Ends the definition of a table. */
  readonly end: string;
  /** Whether an index could not be made because it is there already. */
  readonly isIndexThere: (error: unknown) => boolean;
}

const types: Readonly<Record<DatabaseKind, ColumnTypes>> = {
  sqlite: {
    text: () => 'text',
    longText: 'text',
    integer: 'integer',
    assigned: 'integer not null primary key autoincrement',
    // Otherwise it stores values of another type than that of their column.
    end: 'strict',
    // A migration that failed left nothing.
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

/** What each database calls the types of columns. */
export const columnTypes = (db: Kysely<unknown>): ColumnTypes => types[kindOf(db)];
