import { onDemand } from '../on-demand.ts';
import { linkToParent } from '../processes/parent-link.ts';
import { loadConfig } from '../settings/config.ts';
import type { Database } from '../../adapters/kysely/database.ts';
import type { Left } from '../sealed-keys.ts';
import type { Config } from '../settings/settings.ts';
import {
  command,
  commandOfSettings,
  group,
  progressOf,
  table,
  type Answer,
  type Define,
} from './run-command.ts';

export const serveCommand: Define = (program) => {
  program.command('serve').description('run the service').action(serve);
};

const serve = async (): Promise<void> => {
  const parent = linkToParent();
  const config = loadConfig(process.env);
  if (config.processes > 1 && !parent) await (await onDemand.supervise()).supervise(config);
  else await (await onDemand.serve()).serve(config, parent);
};

const up = commandOfSettings('bring the schema up to date', [], (config) =>
  withDatabase(config, async (database, { migrateUp }) => {
    const applied = await migrateUp(database);
    const text = applied.length > 0 ? `Applied ${applied.join(', ')}.` : 'Already up to date.';
    return [{ applied }, text];
  }),
);

const migrations = commandOfSettings('show which migrations are applied', [], (config) =>
  withDatabase(config, async (database, { migrationStates }) => {
    const states = await migrationStates(database);
    // A newer release has all of our migrations and more.
    const isNewer = states.every(({ executedAt }) => executedAt !== undefined);
    const stranger = isNewer ? ' by a newer release' : ' by an unreleased build';
    const rows = states.map(({ name, executedAt, isKnown }) => [
      name,
      `${executedAt?.toISOString() ?? 'pending'}${isKnown ? '' : stranger}`,
    ]);
    return [states, table(['MIGRATION', 'APPLIED'], rows, 'No migrations.')];
  }),
);

export const migrateCommands: Define = (program) => {
  const migrate = program.command('migrate').description('update the database schema');
  up(migrate.command('up', { isDefault: true }));
  migrations(migrate.command('status'));
};

type Maintenance = Awaited<ReturnType<typeof onDemand.maintenance>>;

/** All other commands bring the schema up to date first. */
const withDatabase = async (
  config: Config,
  work: (database: Database, maintenance: Maintenance) => Promise<Answer>,
): Promise<Answer> => {
  const maintenance = await onDemand.maintenance();
  maintenance.refuseHalfRestored(config);
  await maintenance.makeDataPlaces(config);
  const database = new maintenance.Database(config.databaseUrl, { patient: true });
  try {
    return await work(database, maintenance);
  } finally {
    await database.close();
  }
};

const status = command('show how many values each key encrypts', [], async (container) => {
  const { keyStates } = await onDemand.maintenance();
  const states = await keyStates(container);
  const rows = states.map((one) => [one.keyId, one.key, String(one.values)]);
  return [states, table(['KEY', 'WHICH', 'VALUES'], rows, 'Nothing is encrypted yet.')];
});

const reseal = command(
  'encrypt under SECRET_KEY everything that SECRET_KEY_PREVIOUS encrypted; can be repeated',
  [],
  async (container, options) => {
    const { resealAll } = await onDemand.maintenance();
    const { resealed, left } = await progressOf(options, (show) =>
      // oxlint-disable-next-line local/late-lookups -- the container stays open until the command has answered
      resealAll(container, (done, total) => {
        show('encrypting', done, total);
      }),
    );
    if (left.length > 0) process.exitCode = 1;
    const done = `Encrypted again: ${String(resealed)}. Not changed: ${String(left.length)}.`;
    return [{ resealed, left }, [done, ...left.slice(0, 20).map(inWords)].join('\n')];
  },
);

export const secretKeyCommands = group('secret-key', 'rotate the key that encrypts private keys', {
  status,
  reseal,
});

const inWords = ({ what, id, reason }: Left): string => `  ${what} ${id}: ${reason}`;
