import { dirname } from 'node:path';
import { databaseFile } from '../adapters/kysely/engine/database-kind.ts';
import { databaseProblem, dataFolderProblem } from './failure-words.ts';
import { makeFolder } from './make-folder.ts';
import type { Config } from './settings/config.ts';

/**
 * Makes the folders of the data and of an SQLite file, before anything else tries to: where nothing can be made, other
 * ways would try for ever. Without a secret key in it, a process may need no data folder, and may be unable to make one.
 * @throws Error that names the setting to change
 */
export const makeDataPlaces = async (
  config: Pick<Config, 'dataDir' | 'databaseUrl' | 'secretKey'>,
): Promise<void> => {
  const { dataDir, databaseUrl, secretKey } = config;
  await makeFolder(dataDir).catch((error: unknown) => {
    const code = codeOf(error);
    const isNeeded = secretKey === undefined || code === 'ENOENT';
    if (isNeeded) throw said(dataFolderProblem(dataDir, code), error);
  });
  const file = databaseFile(databaseUrl);
  if (file === undefined) return;
  await makeFolder(dirname(file)).catch((error: unknown) => {
    throw said(databaseProblem(databaseUrl, error), error);
  });
};

const codeOf = (error: unknown): string => {
  const { code } = ((error as Error).cause ?? error) as NodeJS.ErrnoException;
  return code ?? 'unknown';
};

const said = ({ seen, advice }: ReturnType<typeof databaseProblem>, cause: unknown): Error =>
  new Error(`${seen} ${advice}`, { cause });
