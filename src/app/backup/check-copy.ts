import type { CopyFacts } from '../../adapters/kysely/copies/copy-facts.ts';
import { tryCopy, type Trial } from '../../adapters/kysely/copies/database-copies.ts';
import { migrateUp } from '../../adapters/kysely/migrations.ts';
import { keyUses } from '../../adapters/kysely/sealed-values.ts';
import { failed, ok, warning, type Finding } from '../doctor/finding.ts';
import type { Config } from '../settings/config.ts';
import { isFaultOfPlace } from './fault-of-place.ts';
import { DamagedContent } from './content-of.ts';
import type { BackupFolder } from './folder.ts';
import { missingKeys } from './keys-here.ts';
import type { Manifest } from './manifest.ts';
import { schemaGap, strangeIn, type SchemaGap } from './schema.ts';

const emptyPlace =
  'Set TMPDIR to a folder that this user can write to, with room for the database, and check again.';
const backUpAgain = 'Back up again, and take an older backup until then.';

/** Restores the database into a temporary place, opens it, counts and compares. */
export const checkCopy = async (
  config: Config,
  folder: BackupFolder,
  manifest: Manifest,
): Promise<readonly Finding[]> => {
  const { copy, kind } = manifest.database;
  try {
    await folder.verify(copy);
  } catch (error) {
    if (!(error instanceof DamagedContent)) throw error;
    return [failed(`The copy of the database: ${error.message}.`, backUpAgain)];
  }
  try {
    const trial = await tryCopy(kind, folder.placeOf(copy), config.mysqlToolsDir);
    return 'untried' in trial
      ? [await unopened(trial.untried, manifest), ...(await keys(config, folder, manifest))]
      : await examined(trial, { config, folder, manifest });
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    if (isFaultOfPlace(error)) {
      const seen = `The copy of the database is what was written, but could not be tried on this machine: ${problem}.`;
      return [failed(seen, emptyPlace), ...(await keys(config, folder, manifest))];
    }
    return [failed(`The copy of the database cannot be restored: ${problem}`, backUpAgain)];
  }
};

const unopened = async (why: string, manifest: Manifest): Promise<Finding> => {
  const gap = await schemaGap(manifest.database);
  if (gap.unknown.length > 0) return strange(gap, manifest);
  return warning(
    `The dump of the database is what was written, with ${inWords(manifest.database)}. Whether it can be loaded was not tried: ${why}.`,
    'Install the server, or check a copy of the backup on a machine that has it.',
  );
};

interface Examined {
  readonly config: Config;
  readonly folder: BackupFolder;
  readonly manifest: Manifest;
}

const examined = async (
  trial: Trial,
  { config, folder, manifest }: Examined,
): Promise<readonly Finding[]> => {
  try {
    const uses = await keyUses(trial.database);
    const sealedBy = Object.fromEntries(uses.map(({ keyId, values }) => [keyId, values]));
    const problems = [...trial.damage, ...differences(trial.facts, manifest)];
    const found = problems.map((problem) =>
      failed(`The restored database: ${problem}.`, backUpAgain),
    );
    const whole = ok(`The database can be restored, and has ${inWords(manifest.database)}.`);
    return [
      ...(found.length === 0 ? [whole] : found),
      ...(await schema(trial, manifest)),
      ...(await keys(config, folder, { ...manifest, sealedBy })),
    ];
  } finally {
    await trial.end();
  }
};

const differences = (
  { rows, deploys, migrations }: CopyFacts,
  manifest: Manifest,
): readonly string[] => {
  const { rows: wanted, migrations: applied } = manifest.database;
  const tables = [...new Set([...Object.keys(rows), ...Object.keys(wanted)])];
  const isThere = (id: string) => id in manifest.deploys || id in manifest.lost;
  return [
    ...tables
      .filter((table) => rows[table] !== wanted[table])
      .map(
        (table) =>
          `${table} has ${String(rows[table] ?? 'no')} rows instead of ${String(wanted[table] ?? 'none')}`,
      ),
    ...migrations
      .filter((one) => !applied.includes(one))
      .map((one) => `migration ${one} is not in the manifest`),
    ...applied
      .filter((one) => !migrations.includes(one))
      .map((one) => `migration ${one} is missing`),
    ...deploys.filter((id) => !isThere(id)).map((id) => `deploy ${id} is not in the backup`),
  ];
};

const schema = async (trial: Trial, manifest: Manifest): Promise<readonly Finding[]> => {
  const gap = await schemaGap(manifest.database);
  if (gap.unknown.length > 0) return [strange(gap, manifest)];
  if (gap.pending.length === 0) return [];
  const names = gap.pending.join(', ');
  try {
    await migrateUp(trial.database);
  } catch (error) {
    if (isFaultOfPlace(error)) throw error;
    const problem = error instanceof Error ? error.message : String(error);
    const seen = `Its schema is older, and could not be brought up to date: ${problem}.`;
    return [failed(seen, `Restore it with version ${manifest.madeBy}.`)];
  }
  const seen = `Its schema is older: ${names} is missing. It was applied to the restored copy without a problem.`;
  return [warning(seen, 'Nothing to do: the first start after a restore applies it.')];
};

const strange = (gap: SchemaGap, manifest: Manifest): Finding =>
  failed(strangeIn(gap, manifest), `Restore it with version ${manifest.madeBy} or a newer one.`);

const keys = async (
  config: Config,
  folder: BackupFolder,
  sealed: Pick<Manifest, 'files' | 'sealedBy'>,
): Promise<readonly Finding[]> => {
  const seen = await missingKeys(config, folder, sealed);
  if (seen !== undefined) {
    return [failed(seen, 'Set SECRET_KEY to that key, or SECRET_KEY_PREVIOUS.')];
  }
  return [ok('The secret key here opens everything that is encrypted.')];
};

const inWords = ({ rows }: Manifest['database']): string => {
  const all = Object.values(rows);
  const sum = all.reduce((one, other) => one + other, 0);
  return `${String(sum)} rows in ${String(all.length)} tables`;
};
