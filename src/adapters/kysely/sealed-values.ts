import { sql, type Kysely } from 'kysely';
import type { Sealer } from '../../kernel/sealer.ts';
import type { Database } from './database.ts';
import type { Schema } from './schema.ts';
import { open, seal, sealedTables, type Sealed } from './sealed-columns.ts';

type Table = keyof typeof sealedTables;
type Row = Sealed & { readonly id: string };

/** Rows per transaction; small, because other writers wait for it. */
const rowsPerSlice = 100;

/** How many values are sealed under which key. */
export interface KeyUse {
  readonly keyId: string;
  readonly values: number;
}

/** A value that did not open, and so stays as it is. */
export interface LeftValue {
  readonly table: Table;
  readonly id: string;
  readonly reason: string;
}

/** All sealed values in the database. */
export class SealedValues {
  readonly #database: Database;
  readonly #sealer: Sealer;

  constructor(database: Database, sealer: Sealer) {
    this.#database = database;
    this.#sealer = sealer;
  }

  uses(): Promise<readonly KeyUse[]> {
    return keyUses(this.#database);
  }

  /**
   * Re-seals all values that are not sealed under the current key, in slices. Each slice is its own transaction and
   * skips values that are done, so an interrupted run can be repeated. Others may read and write meanwhile.
   * @param onSlice called with the number of values in each slice
   */
  async reseal(onSlice: (values: number) => void): Promise<readonly LeftValue[]> {
    const left: LeftValue[] = [];
    for (const table of tables) {
      for await (const slice of this.#slices(table)) {
        const failed = await this.#resealSlice(table, slice);
        left.push(...failed);
        onSlice(slice.length - failed.length);
      }
    }
    return left;
  }

  async *#slices(table: Table): AsyncGenerator<readonly Row[]> {
    const [key, column] = columnsOf(table);
    for (let last: Row | undefined; ;) {
      const { rows } = await this.#database.run((db) =>
        sql<Row>`
          select ${key} as id, ${column} as sealed, sealed_by from ${sql.table(table)}
          where ${key} > ${last?.id ?? ''} and ${column} is not null
            and sealed_by <> ${this.#sealer.keyIds[0]}
          order by ${key} limit ${sql.lit(rowsPerSlice)}`.execute(db),
      );
      last = rows.at(-1);
      if (!last) return;
      yield rows;
    }
  }

  async #resealSlice(table: Table, slice: readonly Row[]): Promise<readonly LeftValue[]> {
    const outcomes = slice.map((row) => this.#anew(table, row));
    await this.#database.transaction(async (db) => {
      for (const outcome of outcomes) if ('row' in outcome) await replace(db, table, outcome);
    });
    return outcomes.filter((outcome) => 'reason' in outcome);
  }

  #anew(table: Table, row: Row): Replacement | LeftValue {
    try {
      const secret = open(this.#sealer, table, row.id, row);
      return { row, anew: seal(this.#sealer, table, row.id, secret) };
    } catch (error) {
      return { table, id: row.id, reason: error instanceof Error ? error.message : String(error) };
    }
  }
}

const tables = Object.keys(sealedTables) as Table[];

const columnsOf = (table: Table) => {
  const { key, column } = sealedTables[table];
  return [sql.ref(key), sql.ref(column)] as const;
};

/** Needs no key. */
export const keyUses = async (database: Database): Promise<readonly KeyUse[]> => {
  const sums = new Map<string, number>();
  for (const table of tables) {
    const [, column] = columnsOf(table);
    const { rows } = await database.run((db) =>
      sql<{ sealed_by: string; found: bigint }>`
        select sealed_by, count(*) as found from ${sql.table(table)}
        where ${column} is not null group by sealed_by`.execute(db),
    );
    for (const { sealed_by, found } of rows) {
      sums.set(sealed_by, (sums.get(sealed_by) ?? 0) + Number(found));
    }
  }
  return [...sums].map(([keyId, values]) => ({ keyId, values }));
};

interface Replacement {
  readonly row: Row;
  readonly anew: Sealed;
}

/** Does nothing if the value was replaced meanwhile. */
const replace = async (
  db: Kysely<Schema>,
  table: Table,
  { row, anew }: Replacement,
): Promise<void> => {
  const [key, column] = columnsOf(table);
  await sql`
    update ${sql.table(table)} set ${column} = ${anew.sealed}, sealed_by = ${anew.sealed_by}
    where ${key} = ${row.id} and ${column} = ${row.sealed}`.execute(db);
};
