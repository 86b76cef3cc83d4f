import type { Command } from 'commander';
import type { Database } from '../../adapters/kysely/database.ts';
import { onDemand } from '../on-demand.ts';
import { loadConfig } from '../settings/config.ts';
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

type Maintenance = Awaited<ReturnType<typeof onDemand.maintenance>>;

/** Without bringing it up to date first, as all other commands do. */
const withDatabase = async (
  work: (database: Database, maintenance: Maintenance) => Promise<void>,
): Promise<void> => {
  const maintenance = await onDemand.maintenance();
  const config = loadConfig(process.env);
  maintenance.refuseHalfRestored(config);
  await maintenance.makeDataPlaces(config);
  const database = new maintenance.Database(config.databaseUrl, { patient: true });
  try {
    await work(database, maintenance);
  } finally {
    await database.close();
  }
};
