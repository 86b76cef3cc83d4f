import SqliteDatabase from 'better-sqlite3';
import type { Time } from '../world/time.ts';

type Value = string | number | null;

/** Reads what is committed, with a connection of its own. */
export class Stored {
  readonly #open: () => SqliteDatabase.Database;
  readonly #time: Pick<Time, 'as'>;
  readonly #statements = new Map<string, SqliteDatabase.Statement>();
  #database: SqliteDatabase.Database | undefined;

  /** @param open called at the first question */
  constructor(open: () => SqliteDatabase.Database, time: Pick<Time, 'as'>) {
    this.#open = open;
    this.#time = time;
  }

  static inFile(file: string, time: Pick<Time, 'as'>): Stored {
    return new Stored(() => new SqliteDatabase(file, { readonly: true }), time);
  }

  rows<Row>(sql: string, ...values: readonly Value[]): readonly Row[] {
    return this.#statement(sql).all(...values) as Row[];
  }

  first<Row>(sql: string, ...values: readonly Value[]): Row | undefined {
    return this.#statement(sql).get(...values) as Row | undefined;
  }

  has(sql: string, ...values: readonly Value[]): boolean {
    return this.first(sql, ...values) !== undefined;
  }

  close(): void {
    this.#database?.close();
  }

  #statement(sql: string): SqliteDatabase.Statement {
    const known = this.#statements.get(sql);
    if (known) return known;
    // A statement of a simulated process would count among its own.
    const statement = this.#time.as(undefined, () => {
      this.#database ??= this.#open();
      return this.#database.prepare(sql);
    });
    this.#statements.set(sql, statement);
    return statement;
  }
}
