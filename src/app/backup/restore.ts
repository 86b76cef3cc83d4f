import { rm, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { restoreDatabase } from '../../adapters/kysely/copies/database-copies.ts';
import { databaseFile } from '../../adapters/kysely/engine/database-kind.ts';
import type { Config } from '../settings/config.ts';
import { makeFolder } from '../make-folder.ts';
import { restoreMark } from '../restore-mark.ts';
import { admitRestore, type Admitted } from './admit-restore.ts';
import type { OnProgress } from './copy-together.ts';
import { DamagedContent } from './content-of.ts';
import { BackupFolder } from './folder.ts';
import { missingKeys } from './keys-here.ts';
import { holding } from './lock.ts';
import type { Manifest } from './manifest.ts';
import { placeOf, type BackupPlace } from './places.ts';
import { putBackAll } from './put-back.ts';
import { withSiteFiles } from './site-files.ts';
import { writeWhole } from './write-whole.ts';

export interface Restored {
  readonly manifest: Manifest;
  /** Deploys that are not there, and why. */
  readonly lost: Readonly<Record<string, string>>;
  /** Deploys of which the object store had something else than was backed up. */
  readonly replaced: readonly string[];
  /** Other files that are damaged in the backup, and how. */
  readonly lostFiles: Readonly<Record<string, string>>;
  /** Migrations that the next start applies. */
  readonly pending: readonly string[];
  /** What the secret key here does not open. */
  readonly missingKeys: string | undefined;
}

/**
 * Restores a backup into an empty database and an empty data folder. The database comes last, so that nothing is
 * served before everything is there; a restore that was interrupted can be repeated.
 * @throws Error that says what to do
 */
export const restore = (
  config: Config,
  { path, previous = false }: BackupPlace,
  onProgress: OnProgress,
): Promise<Restored> => {
  const folder = new BackupFolder(resolve(path));
  return holding(folder.path, 'reader', async () => {
    const manifest = await folder.manifest(previous ? 'previous' : 'last');
    if (!manifest) {
      const missing = previous ? 'manifest.previous.json' : 'manifest.json';
      throw new Error(`${folder.path} holds no whole backup: there is no ${missing}.`);
    }
    const admitted = await admitRestore(config, manifest);
    await folder.verify(manifest.database.copy).catch(refuseDamaged);
    await makeFolder(resolve(config.dataDir));
    await writeFile(restoreMark(config), '');
    const work = { folder, manifest, ...admitted };
    const { lost, replaced, lostFiles } = await putInPlace(config, work, onProgress);
    await rm(restoreMark(config));
    return {
      ...{ manifest, pending: admitted.pending, lost: { ...manifest.lost, ...lost }, lostFiles },
      replaced,
      missingKeys: await missingKeys(config, folder, manifest),
    };
  });
};

const refuseDamaged = (error: unknown): never => {
  if (!(error instanceof DamagedContent)) throw error;
  const problem = `The copy of the database is damaged: ${error.message}. Restore an older backup. --previous restores the one before it.`;
  throw new Error(problem, { cause: error });
};

interface Restoring extends Admitted {
  readonly folder: BackupFolder;
  readonly manifest: Manifest;
}

/** @returns what is damaged in the backup */
const putInPlace = async (
  config: Config,
  { folder, manifest, hasDatabase }: Restoring,
  onProgress: OnProgress,
): Promise<Pick<Restored, 'lost' | 'replaced' | 'lostFiles'>> => {
  const { deploys, database } = manifest;
  const file = databaseFile(config.databaseUrl);
  const first = async () => {
    const { lost, replaced } = await withSiteFiles(config, (storage) =>
      putBackAll({ files: storage, folder, deploys }, onProgress),
    );
    const lostFiles = await putBackFiles(config, folder, manifest);
    onProgress('restoring the database', 0, undefined);
    if (file !== undefined) await makeFolder(resolve(dirname(file)));
    return { lost, replaced, lostFiles };
  };
  if (!hasDatabase) return restoreDatabase(folder.placeOf(database.copy), placeOf(config), first);
  const found = await first();
  if (file !== undefined) await rm(`${file}.restoring`, { force: true });
  return found;
};

/** The service makes anew what is missing. @returns those that are damaged in the backup */
const putBackFiles = async (
  { dataDir }: Config,
  folder: BackupFolder,
  { files }: Manifest,
): Promise<Restored['lostFiles']> => {
  const lost: Record<string, string> = {};
  for (const [name, content] of Object.entries(files)) {
    try {
      await writeWhole(join(dataDir, name), folder.read(content));
    } catch (error) {
      if (!(error instanceof DamagedContent)) throw error;
      lost[name] = error.message;
    }
  }
  return lost;
};
