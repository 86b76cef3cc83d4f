import type { Command } from 'commander';
import type { Moved } from '../move-database.ts';
import { onDemand } from '../on-demand.ts';
import { loadConfig } from '../settings/config.ts';
import { progressOf } from './progress.ts';
import { print, type OutputOptions } from './run-command.ts';

export const moveCommand = (program: Command): void => {
  program
    .command('move')
    .description(
      'copy the SQLite database into an empty MySQL database, while no service runs; it stays as it is',
    )
    .requiredOption('--to <url>', `the empty database, ${mysqlForm}`)
    .option('--json', 'print JSON')
    .action(async ({ to, ...options }: OutputOptions & { to: string }, command: Command) => {
      refuseOtherUrl(command, '--to', to);
      const { moveDatabase } = await onDemand.maintenance();
      const config = loadConfig(process.env);
      const moved = await progressOf(options, (show) =>
        moveDatabase(config, to, (table, done, total) => {
          show(`moving rows of ${table}`, done, total);
        }),
      );
      print(options, moved, inWords(moved));
    });
};

export const mysqlForm = 'mysql://user:password@host:3306/name';

/** Without the address, which has a password. */
export const refuseOtherUrl = (command: Command, option: string, url: string | undefined): void => {
  if (url === undefined) return;
  if (URL.canParse(url) && /^mysql:\/\/[^/]+\/[^/]+$/.test(url)) return;
  command.error(`error: ${option} must be ${mysqlForm}`);
};

const inWords = ({ from, to, rows }: Moved): string => {
  const counts = Object.values(rows);
  const sum = counts.reduce((one, other) => one + other, 0);
  return [
    `Moved ${String(sum)} rows in ${String(counts.length)} tables to ${to}.`,
    `${from} is as it was. Set DATABASE_URL to the new database before you start the service.`,
  ].join('\n');
};
