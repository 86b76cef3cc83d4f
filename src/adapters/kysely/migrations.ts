import { readdir } from 'node:fs/promises';
import { extname, join, parse, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Migrator, MigratorProps } from 'kysely/migration';
import { Unavailable } from '../../kernel/unavailable.ts';
import type { Database } from './database.ts';
import { failureOf } from './engine/failure.ts';

/** What fills a database in more than one step. */
export type Filling = 'restore' | 'move';
const fillings: readonly Filling[] = ['restore', 'move'];

/** Stands among the applied migrations until the database is whole, so that no service starts on a part of it. */
export const unfinishedMark = (filling: Filling): string => `${filling}-unfinished`;

/** A database that has only a part of what it should hold. */
export class UnfinishedDatabase extends Error {
  override readonly name = 'UnfinishedDatabase';

  constructor(filling: Filling) {
    super(
      `A ${filling} into this database was not finished. Run it again, or set DATABASE_URL to another database.`,
    );
  }
}

/** @param applied names of migrations */
export const unfinishedIn = (applied: readonly string[]): Filling | undefined =>
  fillings.find((filling) => applied.includes(unfinishedMark(filling)));

const folder = resolve(import.meta.dirname, '../../../db/migrations');

export interface MigrationState {
  readonly name: string;
  readonly executedAt: Date | undefined;
}

/**
 * Brings the schema up to date; does nothing when it is. Safe to run from several processes at once.
 * @throws Unavailable
 * @throws Error that names the migration that failed; SQLite keeps nothing of a failed one
 */
export const migrateUp = async (database: Database): Promise<readonly string[]> => {
  if (await isUpToDate(database)) return [];
  const { error, results = [] } = await (await migrator(database)).migrateToLatest();
  const failed = results.find((result) => result.status === 'Error');
  if (error) {
    if (!failed && failureOf(error) === 'unavailable') throw new Unavailable('The database', error);
    throw new Error(`migration ${failed?.migrationName ?? ''} failed`.replace('  ', ' '), {
      cause: error,
    });
  }
  return results.map((result) => result.migrationName);
};

/** @throws Unavailable */
export const migrationStates = async (database: Database): Promise<readonly MigrationState[]> => {
  await database.ping();
  const applied = await appliedTo(database);
  const all = applied
    ? (await knownMigrations()).map((name) => ({ name, executedAt: applied.get(name) }))
    : await (await migrator(database)).getMigrations();
  return all.map(({ name, executedAt }) => ({ name, executedAt }));
};

/** Names of all migrations of this version, in order. */
export const knownMigrations = async (): Promise<readonly string[]> =>
  (await readdir(folder))
    .filter((file) => ['.ts', '.js'].includes(extname(file)))
    .map((file) => parse(file).name)
    .toSorted();

/** Most starts and commands have nothing to apply, and need no migration for that, nor Kysely's look at each table. */
const isUpToDate = async (database: Database): Promise<boolean> => {
  const [known, applied] = [await knownMigrations(), await appliedTo(database)];
  return applied?.size === known.length && known.every((name) => applied.has(name));
};

/** When, by name. @returns undefined before the first migration  @throws Unavailable */
const appliedTo = async ({ root }: Database): Promise<ReadonlyMap<string, Date> | undefined> => {
  try {
    const rows = await root
      .$extendTables<{ kysely_migration: { name: string; timestamp: string } }>()
      .selectFrom('kysely_migration')
      .select(['name', 'timestamp'])
      .execute();
    const filling = unfinishedIn(rows.map(({ name }) => name));
    if (filling) throw new UnfinishedDatabase(filling);
    return new Map(rows.map(({ name, timestamp }) => [name, new Date(timestamp)]));
  } catch (error) {
    if (error instanceof UnfinishedDatabase) throw error;
    if (failureOf(error) === 'unavailable') throw new Unavailable('The database', error);
    // There is no such table; any other reason is Kysely's to tell.
    return undefined;
  }
};

/** @param names of tables in which it remembers what it has applied, if they are not Kysely's own */
export const migrator = async (
  database: Database,
  names: Pick<MigratorProps, 'migrationTableName' | 'migrationLockTableName'> = {},
): Promise<Migrator> => {
  const { FileMigrationProvider, Migrator } = await import('kysely/migration');
  const provider = new FileMigrationProvider({
    fs: { readdir },
    path: { join },
    migrationFolder: folder,
    import: (path: string) => import(pathToFileURL(path).href) as Promise<never>,
  });
  return new Migrator({ db: database.root, provider, ...names });
};
