import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import type { DatabasePlace } from '../../adapters/kysely/copies/database-copies.ts';
import { databaseFile } from '../../adapters/kysely/engine/database-kind.ts';
import type { Config } from '../settings/config.ts';
import { deploysFolder } from '../settings/deploys-place.ts';
import { restoreMark } from '../restore-mark.ts';
import type { Manifest } from './manifest.ts';

/** The folder of a backup, and which one of its two. */
export interface BackupPlace {
  readonly path: string;
  /** The backup before the last one. */
  readonly previous?: boolean | undefined;
}

/** The database, as its copies need to know it. */
export const placeOf = ({ databaseUrl, mysqlToolsDir }: Config): DatabasePlace => ({
  url: databaseUrl,
  toolsDir: mysqlToolsDir,
});

/**
 * What a data folder may have before. The secret key is put there by hand. It is the home of the service's user under
 * systemd and in containers, where each command keeps its compiled code. A disk of its own has the last one.
 */
const harmless = ['secret.key', '.cache', 'backup-cache', 'lost+found'];

/** What is in the way in the data folder. */
export const strangersIn = async (
  config: Config,
  { deploys, files }: Manifest,
): Promise<readonly string[]> => {
  const mark = restoreMark(config);
  const found = (await namesIn(config.dataDir)).filter((name) => !harmless.includes(name));
  if (!existsSync(mark)) return found;
  const folder = deploysFolder(config);
  const ours = [mark, folder, ...databaseIn(config)].map((path) => basename(path));
  const isOurFile = (name: string) => name.replace(/\.restoring$/, '') in files;
  const isOurDeploy = (name: string) => name.replace(/^\.(.+)\.partial$/, '$1') in deploys;
  const strange = (await namesIn(folder)).filter((name) => !isOurDeploy(name));
  return [
    ...found.filter((name) => !ours.includes(name) && !isOurFile(name)),
    ...strange.map((name) => join(basename(folder), name)),
  ];
};

/** What an interrupted restore leaves of a database in that folder. Whether it is in place, its obstacle tells. */
const databaseIn = ({ dataDir, databaseUrl }: Config): readonly string[] => {
  const file = databaseFile(databaseUrl);
  if (file === undefined || dirname(resolve(file)) !== resolve(dataDir)) return [];
  return [basename(file), `${basename(file)}.restoring`];
};

const namesIn = async (folder: string): Promise<readonly string[]> =>
  existsSync(folder) ? readdir(folder) : [];
