import { sql, type Kysely } from 'kysely';
import type { Sealer } from '../../kernel/ports.ts';
import { present } from './table.ts';
import type { Database, Schema } from './database.ts';

/** A new table with a sealed value does not compile until it is listed. */
type SealedTable = {
  readonly [Name in keyof Schema]: 'sealed_by' extends keyof Schema[Name] ? Name : never;
}[keyof Schema];

/** A value can be opened only in its own table and row. */
const sealedTables = {
  certificates: { key: 'host', column: 'private_key', purpose: (host) => `certificate of ${host}` },
  certificate_orders: {
    key: 'subject',
    column: 'private_key',
    purpose: (subject) => `order of ${subject}`,
  },
  authority_accounts: {
    key: 'directory_url',
    column: 'private_key',
    purpose: (url) => `account at ${url}`,
  },
  second_factors: {
    key: 'person_id',
    column: 'secret',
    purpose: (personId) => `second factor of ${personId}`,
  },
  mails: { key: 'id', column: 'facts', purpose: (id) => `mail ${id}` },
  webhooks: { key: 'id', column: 'secrets', purpose: (id) => `secrets of the webhook ${id}` },
} as const satisfies {
  readonly [Name in SealedTable]: {
    readonly key: keyof Schema[Name];
    readonly column: keyof Schema[Name];
    readonly purpose: (key: string) => string;
  };
};

type ColumnOf<Table extends SealedTable> = (typeof sealedTables)[Table]['column'];
type KeyOf<Table extends SealedTable> = (typeof sealedTables)[Table]['key'];
type SealedColumns<Table extends SealedTable, Stored> = Readonly<
  Record<ColumnOf<Table> | 'sealed_by', Stored>
>;

export const sealedColumns = <Table extends SealedTable>(
  sealer: Sealer,
  table: Table,
  { key, secret }: { readonly key: string; readonly secret: string },
): SealedColumns<Table, string> => {
  const { column, purpose } = sealedTables[table];
  const columns = { [column]: sealer.seal(secret, purpose(key)), sealed_by: sealer.keyIds[0] };
  return columns as SealedColumns<Table, string>;
};

/** @throws Error if the value was changed or its key is missing here */
export const openColumns = <Table extends SealedTable>(
  sealer: Sealer,
  table: Table,
  row: Readonly<Record<KeyOf<Table>, string>> & SealedColumns<Table, string | null>,
): string => {
  const { key, column, purpose } = sealedTables[table];
  const stored: Readonly<Record<string, string | null>> = row;
  const sealed = present(column, stored[column]);
  return sealer.open(sealed, purpose(present(key, stored[key])), stored['sealed_by'] ?? undefined);
};

type Table = keyof typeof sealedTables;
interface Row {
  readonly id: string;
  readonly sealed: string;
  readonly sealed_by: string;
}

/** Small, because other writers wait for each slice. */
const rowsPerSlice = 100;

export interface KeyUse {
  readonly keyId: string;
  readonly values: number;
}

/** A value that could not be opened. */
export interface LeftValue {
  readonly table: Table;
  readonly id: string;
  readonly reason: string;
}

export class SealedValues {
  readonly #database: Database;
  readonly #sealer: Sealer;

  constructor(database: Database, sealer: Sealer) {
    this.#database = database;
    this.#sealer = sealer;
  }

  /** Seals values of older keys with the current key, in slices, while others write. A run can be repeated. */
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
      const keyId = this.#sealer.keyIds[0];
      for (const outcome of outcomes) {
        if ('row' in outcome) await replace(db, table, { ...outcome, keyId });
      }
    });
    return outcomes.filter((outcome) => 'reason' in outcome);
  }

  #anew(table: Table, row: Row): Replacement | LeftValue {
    try {
      const purpose = sealedTables[table].purpose(row.id);
      const secret = this.#sealer.open(row.sealed, purpose, row.sealed_by);
      return { row, anew: this.#sealer.seal(secret, purpose) };
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
  readonly anew: string;
}

/** Does nothing if the value was replaced meanwhile. */
const replace = async (
  db: Kysely<Schema>,
  table: Table,
  { row, anew, keyId }: Replacement & { readonly keyId: string },
): Promise<void> => {
  const [key, column] = columnsOf(table);
  await sql`
    update ${sql.table(table)} set ${column} = ${anew}, sealed_by = ${keyId}
    where ${key} = ${row.id} and ${column} = ${row.sealed}`.execute(db);
};
