import { createHash } from 'node:crypto';
import { Migrator, type Migration, type MigratorProps } from 'kysely/migration';
import * as foundation from '../../../db/migrations/0001-foundation.ts';
import { Unavailable } from '../../kernel/ports.ts';
import type { Database } from './database.ts';
import { failureOf } from './engine/failure.ts';

export type Filling = 'restore' | 'move';
const fillings: readonly Filling[] = ['restore', 'move'];

/** Recorded among the migrations, so that no service starts on a partial database. */
export const unfinishedMark = (filling: Filling): string => `${filling}-unfinished`;

export class UnfinishedDatabase extends Error {
  override readonly name = 'UnfinishedDatabase';

  constructor(filling: Filling) {
    super(
      `A ${filling} into this database was not finished. Run it again, or set DATABASE_URL to another database.`,
    );
  }
}

export const unfinishedIn = (applied: readonly string[]): Filling | undefined =>
  fillings.find((filling) => applied.includes(unfinishedMark(filling)));

/** All exports except `up` describe what the migration creates. */
type MigrationFile = Migration & Readonly<Record<string, unknown>>;

export type Migrations = Readonly<Record<string, Migration>>;

/** Adds a fingerprint to each name, so that a database made by a changed migration is refused. */
export const named = (files: Readonly<Record<string, MigrationFile>>): Migrations =>
  Object.fromEntries(
    Object.entries(files).map(([file, { up, ...described }]) => {
      const hash = createHash('sha256').update(JSON.stringify(described));
      return [`${file}-${hash.digest('hex').slice(0, 8)}`, { up }];
    }),
  );

/** Each new file in db/migrations needs a new line here. */
export const migrationFiles: Readonly<Record<string, MigrationFile>> = {
  '0001-foundation': foundation,
};

export const knownMigrations = named(migrationFiles);

export interface MigrationState {
  readonly name: string;
  readonly executedAt: Date | undefined;
  /** False if another build applied it. */
  readonly isKnown: boolean;
}

export class UnknownSchema extends Error {
  override readonly name = 'UnknownSchema';
  readonly seen: string;
  readonly advice: string;

  constructor(first: string, isNewer: boolean, place = 'the database') {
    const seen = isNewer
      ? `A newer release has brought ${place} up to date: this one does not know ${first}.`
      : `An unreleased build has made ${place}: no release has its schema, ${first}.`;
    const advice = isNewer
      ? 'Install that release, or restore a backup from before the upgrade.'
      : 'Start with an empty database.';
    super(`${seen} ${advice}`);
    this.seen = seen;
    this.advice = advice;
  }
}

export const unknownSchema = (
  applied: readonly string[],
  migrations: Migrations,
  place?: string,
): UnknownSchema | undefined => {
  const names = Object.keys(migrations);
  const [first] = unknownIn(applied, names);
  if (first === undefined) return undefined;
  // A newer release contains all of our migrations and more.
  const isNewer = names.every((name) => applied.includes(name));
  return new UnknownSchema(first, isNewer, place);
};

/**
 * Applies missing migrations. Several processes may run it at once.
 * @throws Unavailable
 * @throws UnknownSchema, and changes nothing
 * @throws Error that names the failed migration; SQLite keeps nothing of it
 */
export const migrateUp = async (
  database: Database,
  all: Migrations = knownMigrations,
): Promise<readonly string[]> => {
  const applied = await appliedTo(database);
  const strange = applied && unknownSchema([...applied.keys()], all);
  if (strange) throw strange;
  // Most starts need no Migrator.
  if (applied?.size === Object.keys(all).length) return [];
  const { error, results = [] } = await migrator(database, all).migrateToLatest();
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
  const names = Object.keys(knownMigrations);
  const applied = await appliedTo(database);
  if (!applied) {
    const all = await migrator(database, knownMigrations).getMigrations();
    return all.map(({ name, executedAt }) => ({ name, executedAt, isKnown: true }));
  }
  return [...names, ...unknownIn([...applied.keys()], names)].map((name, at) => ({
    name,
    executedAt: applied.get(name),
    isKnown: at < names.length,
  }));
};

const unknownIn = (applied: readonly string[], names: readonly string[]): readonly string[] =>
  applied.filter((name) => !names.includes(name)).toSorted();

/** @returns undefined before the first migration @throws Unavailable */
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
    // The table does not exist; Kysely reports other errors itself.
    return undefined;
  }
};

/** @param names of the migration tables; Kysely's defaults if omitted */
export const migrator = (
  database: Database,
  migrations: Migrations,
  names: Pick<MigratorProps, 'migrationTableName' | 'migrationLockTableName'> = {},
): Migrator => {
  const provider = { getMigrations: () => Promise.resolve({ ...migrations }) };
  return new Migrator({ db: database.root, provider, ...names });
};
