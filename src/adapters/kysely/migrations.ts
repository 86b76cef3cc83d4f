import { readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { FileMigrationProvider, Migrator } from 'kysely/migration';
import { Unavailable } from '../../kernel/unavailable.ts';
import type { Database } from './database.ts';
import { failureOf } from './engine/failure.ts';

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
  const { error, results = [] } = await migrator(database).migrateToLatest();
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
  const all = await migrator(database).getMigrations();
  return all.map(({ name, executedAt }) => ({ name, executedAt }));
};

const migrator = (database: Database): Migrator =>
  new Migrator({
    db: database.root,
    provider: new FileMigrationProvider({
      fs: { readdir },
      path: { join },
      migrationFolder: folder,
      import: (path: string) => import(pathToFileURL(path).href) as Promise<never>,
    }),
  });
