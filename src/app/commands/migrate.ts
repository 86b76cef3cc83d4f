import type { Command } from 'commander';
import type * as Migrations from '../../adapters/kysely/migrations.ts';
import type { Database } from '../../adapters/kysely/database.ts';
import { print, table, type OutputOptions } from './run-command.ts';

export const migrateCommands = (program: Command): void => {
  const migrate = program.command('migrate').description('update the database schema');

  migrate
    .command('up', { isDefault: true })
    .description('bring the schema up to date')
    .option('--json', 'print JSON')
    .action((options: OutputOptions) =>
      withDatabase(async (database, { migrateUp }) => {
        const applied = await migrateUp(database);
        const text = applied.length > 0 ? `Applied ${applied.join(', ')}.` : 'Already up to date.';
        print(options, { applied }, text);
      }),
    );

  migrate
    .command('status')
    .description('show which migrations are applied')
    .option('--json', 'print JSON')
    .action((options: OutputOptions) =>
      withDatabase(async (database, { migrationStates }) => {
        const states = await migrationStates(database);
        // A newer release has all of ours, and more.
        const isNewer = states.every(({ executedAt }) => executedAt !== undefined);
        const stranger = isNewer ? ' by a newer release' : ' by an unreleased build';
        const rows = states.map(({ name, executedAt, isKnown }) => [
          name,
          `${executedAt?.toISOString() ?? 'pending'}${isKnown ? '' : stranger}`,
        ]);
        print(options, states, table(['MIGRATION', 'APPLIED'], rows, 'No migrations.'));
      }),
    );
};

/** Without bringing it up to date first, as all other commands do. */
const withDatabase = async (
  work: (database: Database, migrations: typeof Migrations) => Promise<void>,
): Promise<void> => {
  const [{ loadConfig }, { makeDataPlaces }, { refuseHalfRestored }, { Database }, migrations] =
    await Promise.all([
      import('../settings/config.ts'),
      import('../data-places.ts'),
      import('../restore-mark.ts'),
      import('../../adapters/kysely/database.ts'),
      import('../../adapters/kysely/migrations.ts'),
    ]);
  const config = loadConfig(process.env);
  refuseHalfRestored(config);
  await makeDataPlaces(config);
  const database = new Database(config.databaseUrl, { patient: true });
  try {
    await work(database, migrations);
  } finally {
    await database.close();
  }
};
