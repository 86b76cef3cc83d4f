import { resolve } from 'node:path';
import { rememberBackup } from '../../adapters/kysely/copies/backup-times.ts';
import { migrationStates } from '../../adapters/kysely/migrations.ts';
import { kindOfUrl } from '../../adapters/kysely/engine/database-kind.ts';
import { isMissing, usingDatabase } from '../doctor/check-database.ts';
import type { Checked } from '../doctor/examine.ts';
import { failed, ok, warning, type Finding } from '../doctor/finding.ts';
import { databaseProblem } from '../failure-words.ts';
import type { Config } from '../settings/config.ts';
import type { OnProgress } from './copy-together.ts';
import { checkContents } from './check-contents.ts';
import { checkCopy } from './check-copy.ts';
import { BackupFolder } from './folder.ts';
import type { BackupPlace } from './places.ts';
import { holding } from './lock.ts';
import { DamagedManifest, StrangeManifest, type Manifest } from './manifest.ts';

/** Tries whether a backup could be restored, and changes nothing in its folder. */
export const checkBackup = async (
  config: Config,
  { path, previous = false }: BackupPlace,
  onProgress: OnProgress,
): Promise<readonly Checked[]> => {
  const folder = new BackupFolder(resolve(path));
  return holding(folder.path, 'reader', async () => {
    const manifest = await readManifest(folder, previous);
    if ('state' in manifest) return named('manifest', [manifest]);
    const checks = [
      ...named('manifest', [ok(`Made at ${manifest.madeAt} by version ${manifest.madeBy}.`)]),
      ...named('deploys', await checkContents(folder, manifest, onProgress)),
      ...named('database', await checkCopy(config, folder, manifest)),
    ];
    if (checks.some(({ state }) => state === 'failed')) return checks;
    return [...checks, ...named('service', await tellService(config, manifest))];
  });
};

/** Where this machine reaches the database, which remembers what was found whole, for the alert. */
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
    const unknown = `The backup is whole, but the service was not told, so it may alert: ${seen}`;
    return [warning(unknown, 'Nothing to do, if this machine should not reach the database.')];
  }
};

const noPrevious = ({ path }: BackupFolder): string =>
  `${path} holds no previous backup: there is no manifest.previous.json.`;

const named = (check: string, findings: readonly Finding[]): readonly Checked[] =>
  findings.map((finding) => ({ check, ...finding }));

const readManifest = async (
  folder: BackupFolder,
  previous: boolean,
): Promise<Manifest | Finding> => {
  try {
    const manifest = await folder.manifest(previous ? 'previous' : 'last');
    if (manifest) return manifest;
    if (previous) return failed(noPrevious(folder), 'Check the last one, without --previous.');
    const advice = 'Name the folder of a backup. If one was interrupted there, run it again.';
    return failed(`${folder.path} holds no whole backup: there is no manifest.json.`, advice);
  } catch (error) {
    if (error instanceof StrangeManifest) {
      return failed(error.message, 'Back up into another folder until then.');
    }
    if (!(error instanceof DamagedManifest)) throw error;
    return failed(
      error.message,
      'Back up again into this folder. --previous uses the backup before it.',
    );
  }
};
