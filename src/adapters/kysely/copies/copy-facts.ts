/** What a copy of the database says, all as of one moment. */
export interface CopyFacts {
  /** Those that were applied. */
  readonly migrations: readonly string[];
  /** How many each table has. */
  readonly rows: Readonly<Record<string, number>>;
  /** Ids of the succeeded deploys, whose files belong to the copy. */
  readonly deploys: readonly string[];
}

export interface DatabasePlace {
  readonly databaseUrl: string;
}

/** What a copy has, and what its database finds wrong with it. */
export interface InspectedCopy {
  /** Undefined when it cannot be loaded. */
  readonly facts: CopyFacts | undefined;
  readonly damage: readonly string[];
}

/** Called with progress. `total` is undefined where it is not known. */
export type OnCopied = (bytes: number, total: number | undefined) => void;

/** Answers a query, on any kind of database. */
export type Ask = (
  sql: string,
) => Promise<readonly Readonly<Record<string, unknown>>[]> | readonly object[];

export const migrationTable = 'kysely_migration';

/** @throws Error when this is no database of the service */
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

/** In words, where a copy has other rows than expected. */
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
