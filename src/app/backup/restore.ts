import { existsSync } from 'node:fs';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { copiesIn, holdsCopy } from '../../adapters/kysely/copies/database-copies.ts';
import { databaseFile, kindOfUrl } from '../../adapters/kysely/engine/database-kind.ts';
import { flush } from '../../adapters/storage/files.ts';
import { databasePlace } from '../failure-words.ts';
import { makeFolder, restoreMark } from '../data-folder.ts';
import type { Config } from '../settings/settings.ts';
import { putBackAll, withSiteFiles, type OnProgress, type PutBack } from './deploys.ts';
import { BackupFolder } from './folder.ts';
import { missingKeys, localFiles, type Manifest, schemaGap, unknownSchemaIn } from './manifest.ts';

export interface Restored extends PutBack {
  readonly manifest: Manifest;
  readonly pending: readonly string[];
  readonly missingKeys: string | undefined;
}

/** Restores the database last, so that nothing is served too early. An interrupted restore can be repeated. @throws Error */
export const restore = (
  config: Config,
  path: string,
  onProgress: OnProgress,
): Promise<Restored> => {
  const folder = new BackupFolder(resolve(path));
  return folder.holding('reader', async () => {
    const manifest = await folder.manifest();
    if (!manifest) throw new Error(folder.noBackup);
    const pending = await admit(config, manifest);
    const damage = await folder.damagedCopy(manifest);
    if (damage !== undefined) {
      throw new Error(`The copy of the database is damaged: ${damage}. Restore an older backup.`);
    }
    await begin(config, manifest);
    const { lost, replaced } = await putInPlace(config, { folder, manifest, onProgress });
    await end(config);
    return {
      manifest,
      pending,
      replaced,
      lost: { ...manifest.lost, ...lost },
      missingKeys: missingKeys(config, manifest),
    };
  });
};

/** @returns migrations that the next start applies @throws Error if the backup cannot be restored here */
const admit = async (config: Config, manifest: Manifest): Promise<readonly string[]> => {
  const { kind } = manifest.database;
  if (kind !== kindOfUrl(config.databaseUrl)) {
    throw new Error(`The backup is of a database for ${kind}: URLs. Set DATABASE_URL to one.`);
  }
  const gap = schemaGap(manifest.database);
  if (gap.unknown.length > 0) {
    throw new Error(
      `${unknownSchemaIn(gap, manifest)} Install that version or a newer one to restore it.`,
    );
  }
  const obstacle = await copiesIn(config.databaseUrl).obstacle(config.databaseUrl);
  if (obstacle !== undefined && !(await isInPlace(config, manifest))) {
    throw new Error(
      `The database ${databasePlace(config.databaseUrl)} is in use or not empty: ${obstacle}. ` +
        'Stop the service and move the database away, or set DATABASE_URL to an empty one.',
    );
  }
  await refuseUsedFolder(config, manifest);
  return gap.pending;
};

const isInPlace = async (config: Config, { database }: Manifest): Promise<boolean> =>
  existsSync(restoreMark(config)) && (await holdsCopy(config.databaseUrl, database));

/** The data folder may be the service user's home, and a separate disk has `lost+found`. */
const harmless = ['secret.key', '.cache', 'backup-cache', 'lost+found'];

/** Refuses a folder in use. Files beside the mark belong to the interrupted restore, because nothing else starts there. */
const refuseUsedFolder = async (config: Config, manifest: Manifest): Promise<void> => {
  const { dataDir } = config;
  const mark = restoreMark(config);
  if (existsSync(mark)) {
    if ((await readFile(mark, 'utf8')) === markOf(manifest)) return;
    throw new Error(
      `The restore of another backup into ${dataDir} was interrupted. Finish that one, or set DATA_DIR to an empty folder.`,
    );
  }
  const names = existsSync(dataDir) ? await readdir(dataDir) : [];
  const strangers = names.filter((name) => !harmless.includes(name));
  if (strangers.length === 0) return;
  throw new Error(
    `The data folder ${dataDir} is in use or not empty: it has ${strangers.slice(0, 5).join(', ')}. ` +
      'Stop the service and move it away, or set DATA_DIR to an empty folder. Only secret.key may be there.',
  );
};

const markOf = ({ madeAt, database }: Manifest): string => `${madeAt} ${database.sha256}\n`;

/** Writes the mark first, so that no service starts during the restore. */
const begin = async (config: Config, manifest: Manifest): Promise<void> => {
  await makeFolder(resolve(config.dataDir));
  await writeFile(restoreMark(config), markOf(manifest), { mode: 0o600, flush: true });
  await flush(config.dataDir);
};

const end = async (config: Config): Promise<void> => {
  const file = databaseFile(config.databaseUrl);
  for (const folder of [config.dataDir, ...(file === undefined ? [] : [dirname(file)])]) {
    await flush(folder);
  }
  await rm(restoreMark(config));
  await flush(config.dataDir);
};

interface Restoring {
  readonly folder: BackupFolder;
  readonly manifest: Manifest;
  readonly onProgress: OnProgress;
}

const putInPlace = async (
  config: Config,
  { folder, manifest, onProgress }: Restoring,
): Promise<PutBack> => {
  const file = databaseFile(config.databaseUrl);
  const first = async () => {
    const found = await withSiteFiles(config, (storage) =>
      putBackAll(folder.deploys, storage, manifest.deploys, onProgress),
    );
    await putBackFiles(config, manifest);
    onProgress('restoring the database', 0, undefined);
    if (file !== undefined) await makeFolder(resolve(dirname(file)));
    return found;
  };
  if (!(await isInPlace(config, manifest))) {
    const { databaseUrl: url } = config;
    return copiesIn(url).restore(folder.copyOf(manifest), url, first);
  }
  const found = await first();
  if (file !== undefined) await rm(`${file}.restoring`, { force: true });
  return found;
};

/** These writes need not be atomic, because nothing reads the files during a restore. */
const putBackFiles = async ({ dataDir }: Config, { files }: Manifest): Promise<void> => {
  for (const name of localFiles) {
    const text = files[name];
    if (text === undefined) continue;
    await writeFile(join(dataDir, name), text, { mode: 0o600, flush: true });
  }
};
