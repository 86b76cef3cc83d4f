import type { Command } from 'commander';
import { Database } from '../../adapters/kysely/database.ts';
import { migrateUp, migrationStates } from '../../adapters/kysely/migrations.ts';
import { loadConfig } from '../settings/config.ts';
import { print, table, type OutputOptions } from './run-command.ts';

export const migrateCommands = (program: Command): void => {
  const migrate = program.command('migrate').description('update the database schema');

  migrate
    .command('up', { isDefault: true })
    .description('bring the schema up to date')
    .option('--json', 'print JSON')
    .action((options: OutputOptions) =>
      withDatabase(async (database) => {
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
      withDatabase(async (database) => {
        const states = await migrationStates(database);
        const rows = states.map((one) => [one.name, one.executedAt?.toISOString() ?? 'pending']);
        print(options, states, table(['MIGRATION', 'APPLIED'], rows, 'No migrations.'));
      }),
    );
};

/** Without bringing it up to date first, as all other commands do. */
const withDatabase = async (work: (database: Database) => Promise<void>): Promise<void> => {
  const database = new Database(loadConfig(process.env).databaseUrl, { patient: true });
  try {
    await work(database);
  } finally {
    await database.close();
  }
};
