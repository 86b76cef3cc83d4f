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
  /** False: a newer release has applied it. */
  readonly isKnown: boolean;
}

export const newerAdvice = 'Install that release, or restore a backup from before the upgrade.';

/** A database that a newer release has brought up to date. */
export class NewerSchema extends Error {
  override readonly name = 'NewerSchema';

  constructor(firstUnknown: string) {
    super(
      `A newer release has brought the database up to date: this one does not know ${firstUnknown}. ${newerAdvice}`,
    );
  }
}

/**
 * Brings the schema up to date; does nothing when it is. Safe to run from several processes at once.
 * @throws Unavailable
 * @throws NewerSchema, and changes nothing
 * @throws Error that names the migration that failed; SQLite keeps nothing of a failed one
 */
export const migrateUp = async (database: Database): Promise<readonly string[]> => {
  const { known, applied } = await migrationsOf(database);
  const [firstUnknown] = applied ? unknownIn(applied, known) : [];
  if (firstUnknown !== undefined) throw new NewerSchema(firstUnknown);
  // Most starts and commands have nothing to apply, and need no migration for that, nor Kysely's look at each table.
  if (applied?.size === known.length) return [];
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
  const { known, applied } = await migrationsOf(database);
  if (!applied) {
    const all = await (await migrator(database)).getMigrations();
    return all.map(({ name, executedAt }) => ({ name, executedAt, isKnown: true }));
  }
  return [...known, ...unknownIn(applied, known)].map((name, at) => ({
    name,
    executedAt: applied.get(name),
    isKnown: at < known.length,
  }));
};

/** Names of all migrations of this version, in order. */
export const knownMigrations = async (): Promise<readonly string[]> =>
  (await readdir(folder))
    .filter((file) => ['.ts', '.js'].includes(extname(file)))
    .map((file) => parse(file).name)
    .toSorted();

const migrationsOf = async (database: Database) => ({
  known: await knownMigrations(),
  applied: await appliedTo(database),
});

/** In order. */
const unknownIn = (
  applied: ReadonlyMap<string, Date>,
  known: readonly string[],
): readonly string[] => [...applied.keys()].filter((name) => !known.includes(name)).toSorted();

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
