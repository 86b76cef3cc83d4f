import { resolve } from 'node:path';
import { rememberBackup, inspectCopy } from '../../adapters/kysely/copies/database-copies.ts';
import {
  otherRows,
  rowsInWords,
  type CopyFacts,
  type InspectedCopy,
} from '../../adapters/kysely/copies/copy-facts.ts';
import { kindOfUrl } from '../../adapters/kysely/engine/database-kind.ts';
import { migrationStates } from '../../adapters/kysely/migrations.ts';
import { isMissing, usingDatabase } from '../doctor/check-database.ts';
import type { Checked } from '../doctor/examine.ts';
import { failed, ok, warning, type Finding } from '../doctor/finding.ts';
import { databaseProblem } from '../failure-words.ts';
import { intoEmptyMysql } from '../move-database.ts';
import type { Config } from '../settings/settings.ts';
import { damageOf, type OnProgress } from './deploys.ts';
import { BackupFolder } from './folder.ts';
import {
  missingKeys,
  DamagedManifest,
  UnsupportedManifest,
  type Manifest,
  schemaGap,
  unknownSchemaIn,
} from './manifest.ts';

const mostShown = 20;

const backUpAgain = 'Back up again, and use an older backup until then.';

/** Tests whether a backup can be restored. Changes nothing in the backup. @throws Error if `into` cannot be used */
export const checkBackup = async (
  config: Config,
  { path, into }: { readonly path: string; readonly into?: string | undefined },
  onProgress: OnProgress,
): Promise<readonly Checked[]> => {
  const folder = new BackupFolder(resolve(path));
  return folder.holding('reader', async () => {
    const manifest = await readManifest(folder);
    if ('state' in manifest) return named('manifest', [manifest]);
    const checks = [
      ...named('manifest', [ok(`Made at ${manifest.madeAt} by version ${manifest.madeBy}.`)]),
      ...named('deploys', await checkDeploys(folder, manifest, onProgress)),
      ...named('database', await checkCopy({ folder, manifest, into })),
      ...named('database', [checkKeys(config, manifest)]),
    ];
    if (checks.some(({ state }) => state === 'failed')) return checks;
    return [...checks, ...named('service', await tellService(config, manifest))];
  });
};

const named = (check: string, findings: readonly Finding[]): readonly Checked[] =>
  findings.map((finding) => ({ check, ...finding }));

const readManifest = async (folder: BackupFolder): Promise<Manifest | Finding> => {
  try {
    const manifest = await folder.manifest();
    if (manifest) return manifest;
    const advice = 'Name the folder of a backup. If one was interrupted there, run it again.';
    return failed(folder.noBackup, advice);
  } catch (error) {
    if (error instanceof UnsupportedManifest) {
      return failed(error.message, 'Back up into another folder until then.');
    }
    if (!(error instanceof DamagedManifest)) throw error;
    return failed(error.message, backUpAgain);
  }
};

const checkDeploys = async (
  folder: BackupFolder,
  { deploys, lost }: Manifest,
  onProgress: OnProgress,
): Promise<readonly Finding[]> => {
  const advice = (id: string) =>
    `Delete deploys/${id} in this folder, if it exists, and back up again.`;
  const all = Object.entries(deploys);
  const found: Finding[] = [];
  for (const [at, [id, sha256]] of all.entries()) {
    onProgress('checking deploys', at, all.length);
    const damage = await damageOf(folder.deploys, id, sha256);
    if (damage !== undefined) found.push(failed(`Deploy ${id}: ${damage}.`, advice(id)));
  }
  const more = found.length - mostShown;
  const whole = ok(`The files of all deploys are complete (${String(all.length)}).`);
  const gone = Object.entries(lost).map(([id, why]) =>
    failed(
      `Deploy ${id} was already incomplete when the backup was made: ${why}.`,
      'Publish that site again, and delete this deploy.',
    ),
  );
  return [
    ...(found.length === 0 ? [whole] : found.slice(0, mostShown)),
    ...(more > 0 ? [failed(`${String(more)} more deploys are damaged.`, advice('ID'))] : []),
    ...gone,
  ];
};

interface CopyToCheck {
  readonly folder: BackupFolder;
  readonly manifest: Manifest;
  readonly into: string | undefined;
}

const checkCopy = async ({ folder, manifest, into }: CopyToCheck): Promise<readonly Finding[]> => {
  const { kind, rows } = manifest.database;
  if (into !== undefined && kind !== 'mysql') {
    throw new Error('--into is for backups of MySQL; a backup of SQLite needs no other database.');
  }
  const changed = await folder.damagedCopy(manifest);
  if (changed !== undefined) {
    return [failed(`The copy of the database: ${changed}.`, backUpAgain)];
  }
  const inspect = () => inspectCopy(kind, folder.copyOf(manifest), into);
  const inspected =
    into === undefined
      ? await inspect().catch(unopened)
      : await intoEmptyMysql(into, '--into', inspect);
  const all = rowsInWords(rows);
  const schema = checkSchema(manifest);
  if (!inspected) {
    const seen = `The dump of the database is unchanged, with ${all}. Loading it was not tried.`;
    return [warning(seen, 'Name an empty database of a test server with --into.'), ...schema];
  }
  const { facts, damage } = inspected;
  const problems = [...damage, ...(facts ? differences(facts, manifest) : [])];
  if (problems.length === 0) {
    return [ok(`The database can be restored, and has ${all}.`), ...schema];
  }
  return problems.map((problem) => failed(`The copy of the database: ${problem}.`, backUpAgain));
};

const unopened = (error: unknown): InspectedCopy => {
  const problem = error instanceof Error ? error.message : String(error);
  return { facts: undefined, damage: [`it cannot be opened: ${problem}`] };
};

const differences = (found: CopyFacts, manifest: Manifest): readonly string[] => {
  const { rows, migrations } = manifest.database;
  const isThere = (id: string) => id in manifest.deploys || id in manifest.lost;
  return [
    ...otherRows(found.rows, rows),
    ...found.migrations
      .filter((one) => !migrations.includes(one))
      .map((one) => `migration ${one} is not in the manifest`),
    ...migrations
      .filter((one) => !found.migrations.includes(one))
      .map((one) => `migration ${one} is missing`),
    ...found.deploys.filter((id) => !isThere(id)).map((id) => `deploy ${id} is not in the backup`),
  ];
};

const checkSchema = (manifest: Manifest): readonly Finding[] => {
  const gap = schemaGap(manifest.database);
  if (gap.unknown.length > 0) {
    const advice = `Restore it with version ${manifest.madeBy} or a newer one.`;
    return [failed(unknownSchemaIn(gap, manifest), advice)];
  }
  if (gap.pending.length === 0) return [];
  const seen = `Its schema is older: ${gap.pending.join(', ')} is missing.`;
  return [warning(seen, 'Nothing to do: the first start after a restore applies it.')];
};

const checkKeys = (config: Config, manifest: Manifest): Finding => {
  const seen = missingKeys(config, manifest);
  if (seen === undefined) return ok('The secret key here opens everything that is encrypted.');
  return failed(seen, 'Set SECRET_KEY to that key, or SECRET_KEY_PREVIOUS.');
};

const tellService = async (
  { databaseUrl }: Config,
  { madeAt, database: { kind } }: Manifest,
): Promise<readonly Finding[]> => {
  if (isMissing(databaseUrl) || kindOfUrl(databaseUrl) !== kind) return [];
  try {
    await usingDatabase(databaseUrl, async (database) => {
      const [first] = await migrationStates(database);
      if (!first?.executedAt) return;
      await rememberBackup(database, 'checked', new Date(madeAt));
    });
    return [];
  } catch (error) {
    const { seen } = databaseProblem(databaseUrl, error);
    const unknown = `The backup is complete, but the database could not be updated, so an alert may follow: ${seen}`;
    return [warning(unknown, 'Nothing to do, if this machine should not reach the database.')];
  }
};
