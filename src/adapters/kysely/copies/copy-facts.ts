/** Facts about a copy, all from the same moment. */
export interface CopyFacts {
  readonly migrations: readonly string[];
  /** Number of rows by table. */
  readonly rows: Readonly<Record<string, number>>;
  /** Ids of the succeeded deploys, whose files belong to the copy. */
  readonly deploys: readonly string[];
}

export interface InspectedCopy {
  /** Undefined if the copy cannot be loaded. */
  readonly facts: CopyFacts | undefined;
  readonly damage: readonly string[];
}

/** `total` is undefined if it is unknown. */
export type OnCopied = (bytes: number, total: number | undefined) => void;

export type Ask = (
  sql: string,
) => Promise<readonly Readonly<Record<string, unknown>>[]> | readonly object[];

export const migrationTable = 'kysely_migration';

/** @throws Error when this is not a database of the service */
export const readFacts = async (ask: Ask, tables: readonly string[]): Promise<CopyFacts> => {
  for (const needed of [migrationTable, 'deploys']) {
    if (!tables.includes(needed)) throw new Error(`the database has no table ${needed}`);
  }
  const values = async (sql: string): Promise<readonly string[]> =>
    (await ask(sql)).map((row) => String(Object.values(row)[0]));
  const rows: Record<string, number> = {};
  for (const table of tables.toSorted()) {
    const [found] = await values(`select count(*) from ${table}`);
    rows[table] = Number(found);
  }
  return {
    rows,
    migrations: await values(`select name from ${migrationTable} order by name`),
    deploys: await values(`select id from deploys where state = 'succeeded' order by id`),
  };
};

export const otherRows = (
  found: CopyFacts['rows'],
  expected: CopyFacts['rows'],
): readonly string[] => {
  const tables = [...new Set([...Object.keys(expected), ...Object.keys(found)])];
  const different = tables.filter((table) => found[table] !== expected[table]);
  return different.map((table) => {
    const [has, needs] = [found[table] ?? 'no', expected[table] ?? 'none'];
    return `${table} has ${String(has)} rows instead of ${String(needs)}`;
  });
};

export const rowsIn = (rows: CopyFacts['rows']): number =>
  Object.values(rows).reduce((one, other) => one + other, 0);

export const rowsInWords = (rows: CopyFacts['rows']): string =>
  `${String(rowsIn(rows))} rows in ${String(Object.keys(rows).length)} tables`;
