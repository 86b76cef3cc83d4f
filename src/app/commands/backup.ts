import { Argument, type Command } from 'commander';
import { rowsInWords } from '../../adapters/kysely/copies/copy-facts.ts';
import { bytesInWords } from '../../kernel/text.ts';
import type { BackupMade } from '../backup/back-up.ts';
import type { Restored } from '../backup/restore.ts';
import { onDemand } from '../on-demand.ts';
import type { Moved } from '../move-database.ts';
import { answerOf } from './doctor.ts';
import {
  commandOfSettings,
  option,
  progressOf,
  required,
  type Define,
  type OutputOptions,
} from './run-command.ts';

const mysqlForm = 'mysql://user:password@host:3306/name';

const ofFolder = (description: string) => new Argument('<folder>', description);

const makeBackup = commandOfSettings(
  'back up the database, the deploys and the local certificate authority while the service runs; into the folder ' +
    'of an earlier backup, it copies only what is new',
  [ofFolder('a new folder, or the one of an earlier backup')],
  async (config, given: { folder: string } & OutputOptions) => {
    const { backUp } = await onDemand.maintenance();
    const made = await progressOf(given, (show) => backUp(config, given.folder, show));
    if (Object.keys(made.manifest.lost).length > 0) process.exitCode = 1;
    return [presentMade(made), madeInWords(made)];
  },
);

const check = commandOfSettings(
  'check that a backup can be restored: reads every file, opens the database, and says what is wrong',
  [
    ofFolder('the folder of the backup'),
    option(
      '--into <url>',
      `an empty MySQL database, ${mysqlForm}, to load the copy into; it is empty again afterwards`,
    ),
  ],
  async (config, given: { folder: string; into?: string } & OutputOptions) => {
    const { checkBackup } = await onDemand.maintenance();
    const place = { path: given.folder, into: given.into };
    return answerOf(await progressOf(given, (show) => checkBackup(config, place, show)));
  },
);

const putBack = commandOfSettings(
  'restore a backup into an empty database and an empty data folder',
  [ofFolder('the folder of the backup')],
  async (config, given: { folder: string } & OutputOptions) => {
    const { restore } = await onDemand.maintenance();
    const restored = await progressOf(given, (show) => restore(config, given.folder, show));
    if (Object.keys(restored.lost).length > 0) process.exitCode = 1;
    return [presentRestored(restored), restoredInWords(restored)];
  },
);

const move = commandOfSettings(
  'copy the SQLite database into an empty MySQL database while no service runs; the SQLite file stays as it is',
  [required('--to <url>', `the empty database, ${mysqlForm}`)],
  async (config, { to, ...options }: { to: string } & OutputOptions) => {
    const { moveDatabase } = await onDemand.maintenance();
    const moved = await progressOf(options, (show) =>
      moveDatabase(config, to, (table, done, total) => {
        show(`moving rows of ${table}`, done, total);
      }),
    );
    return [moved, movedInWords(moved)];
  },
);

/** Refuses URLs that are not MySQL's, without printing them, because they contain passwords. */
const onlyMysql = (defined: Command, name: 'into' | 'to'): void => {
  defined.hook('preAction', () => {
    const url = defined.opts<{ into?: string; to?: string }>()[name];
    if (url === undefined) return;
    if (URL.canParse(url) && /^mysql:\/\/[^/]+\/[^/]+$/.test(url)) return;
    defined.error(`error: --${name} must be ${mysqlForm}`);
  });
};

export const backupCommands: Define = (program) => {
  const backup = program.command('backup');
  makeBackup(backup);
  const checking = backup.command('check');
  check(checking);
  onlyMysql(checking, 'into');
  putBack(program.command('restore'));
};

export const moveCommand: Define = (program) => {
  const defined = program.command('move');
  move(defined);
  onlyMysql(defined, 'to');
};

const presentMade = ({ folder, manifest, newDeploys, newBytes, schema }: BackupMade) => {
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

const madeInWords = (made: BackupMade): string => {
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
        `  Deploy ${id} was damaged or changed in the storage; the backed-up version was restored.`,
    ),
    ...(rest.missingKeys === undefined
      ? []
      : [
          `Warning: ${rest.missingKeys} Set it before the first start, as SECRET_KEY or SECRET_KEY_PREVIOUS.`,
        ]),
  ].join('\n');

const lostInWords = (lost: Readonly<Record<string, string>>): readonly string[] =>
  Object.entries(lost).map(([id, why]) => `  Deploy ${id} was not restored: ${why}.`);

const movedInWords = ({ from, to, rows }: Moved): string =>
  [
    `Moved ${rowsInWords(rows)} to ${to}.`,
    `${from} is unchanged. Set DATABASE_URL to the new database before you start the service.`,
  ].join('\n');
