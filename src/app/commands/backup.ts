import type { Command } from 'commander';
import { bytesInWords } from '../../kernel/text.ts';
import type { BackupMade } from '../backup/back-up.ts';
import type { Restored } from '../backup/restore.ts';
import { onDemand } from '../on-demand.ts';
import { loadConfig } from '../settings/config.ts';
import { printChecks } from './doctor.ts';
import { mysqlForm, refuseOtherUrl } from './move.ts';
import { progressOf } from './progress.ts';
import { type OutputOptions, print } from './run-command.ts';

export const backupCommands = (program: Command): void => {
  const backup = program
    .command('backup')
    .description(
      'back up the database, the deploys and the local certificate authority, while the service runs; ' +
        'copies only what is new since the last backup into the same folder',
    )
    .argument('<folder>', 'a new folder, or the one of an earlier backup')
    .option('--json', 'print JSON')
    .action(async (path: string, options: OutputOptions) => {
      const { backUp } = await onDemand.maintenance();
      const config = loadConfig(process.env);
      const made = await progressOf(options, (show) => backUp(config, path, show));
      print(options, present(made), inWords(made));
      if (Object.keys(made.manifest.lost).length > 0) process.exitCode = 1;
    });

  backup
    .command('check')
    .description(
      'read a whole backup, open its database, and compare everything; says exactly what is wrong',
    )
    .argument('<folder>', 'the folder of the backup')
    .option(
      '--into <url>',
      `an empty MySQL database, ${mysqlForm}, to load the copy into; it is empty again afterwards`,
    )
    .option('--json', 'print JSON')
    .action(async (path: string, { into }: { into?: string }, command: Command) => {
      refuseOtherUrl(command, '--into', into);
      const options = command.optsWithGlobals<OutputOptions>();
      const { checkBackup } = await onDemand.maintenance();
      const config = loadConfig(process.env);
      const checks = await progressOf(options, (show) => checkBackup(config, { path, into }, show));
      printChecks(options, checks);
    });

  program
    .command('restore')
    .description('restore a backup into an empty database and an empty data folder')
    .argument('<folder>', 'the folder of the backup')
    .option('--json', 'print JSON')
    .action(async (path: string, options: OutputOptions) => {
      const { restore } = await onDemand.maintenance();
      const config = loadConfig(process.env);
      const restored = await progressOf(options, (show) => restore(config, path, show));
      print(options, presentRestored(restored), restoredInWords(restored));
      if (Object.keys(restored.lost).length > 0) process.exitCode = 1;
    });
};

const present = ({ folder, manifest, newDeploys, newBytes, schema }: BackupMade) => {
  const { madeAt, database, deploys, lost } = manifest;
  const { rows, migrations, bytes } = database;
  return {
    folder,
    madeAt,
    database: { bytes, rows, migrations, ...schema },
    deploys: Object.keys(deploys).length,
    newDeploys,
    newBytes,
    lost,
  };
};

const inWords = (made: BackupMade): string => {
  const { folder, manifest, newDeploys, newBytes } = made;
  const { database, deploys, lost } = manifest;
  return [
    `Backed up to ${folder}.`,
    `  database: ${bytesInWords(database.bytes)}`,
    `  schema:   ${schemaInWords(made)}`,
    `  deploys:  ${String(Object.keys(deploys).length)}, ${String(newDeploys)} of them new (${bytesInWords(newBytes)})`,
    ...lostInWords(lost),
    'The secret key is not in it: keep that elsewhere.',
  ].join('\n');
};

const schemaInWords = ({ manifest, schema: { pending, unknown } }: BackupMade): string => {
  const last = manifest.database.migrations.toSorted().at(-1) ?? 'none';
  if (unknown.length > 0 && pending.length === 0) return `${last}, newer than this version`;
  return pending.length > 0 ? `${last}, older than this version` : last;
};

const presentRestored = ({ manifest, ...found }: Restored) => {
  const { madeAt, madeBy, deploys } = manifest;
  const { lost, replaced, pending, missingKeys } = found;
  const restored = { madeAt, madeBy, deploys: Object.keys(deploys).length };
  return { ...restored, lost, replaced, pending, missingKeys };
};

const restoredInWords = ({ manifest, lost, replaced, ...rest }: Restored): string =>
  [
    `Restored the backup of ${manifest.madeAt}.`,
    `  deploys: ${String(Object.keys(manifest.deploys).length)}`,
    ...(rest.pending.length === 0
      ? []
      : [`Its schema is older: the next start applies ${rest.pending.join(', ')}.`]),
    ...lostInWords(lost),
    ...replaced.map(
      (id) =>
        `  Deploy ${id} was damaged or changed in the storage; what was backed up is there again.`,
    ),
    ...(rest.missingKeys === undefined
      ? []
      : [
          `Warning: ${rest.missingKeys} Set it before the first start, as SECRET_KEY or SECRET_KEY_PREVIOUS.`,
        ]),
  ].join('\n');

const lostInWords = (lost: Readonly<Record<string, string>>): readonly string[] =>
  Object.entries(lost).map(([id, why]) => `  Deploy ${id} is not there: ${why}.`);
