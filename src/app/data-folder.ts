import { existsSync } from 'node:fs';
import { mkdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { databaseFile } from '../adapters/kysely/engine/database-kind.ts';
import { databaseProblem, dataFolderProblem } from './failure-words.ts';
import type { Config } from './settings/settings.ts';
import { commandName } from './version.ts';

/** Creates the folders, because other code would retry forever without them. @throws Error that names the setting to change */
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

/** Creates a folder. Node's `recursive` would retry forever in places like /proc. @throws Error with the reason */
export const makeFolder = async (path: string): Promise<void> => {
  if (!existsSync(dirname(path))) await makeFolder(dirname(path));
  try {
    await mkdir(path, { mode: 0o700 });
  } catch (cause) {
    if (await isFolder(path)) return;
    const { code = 'unknown' } = cause as NodeJS.ErrnoException;
    throw new Error(
      `The folder ${path} cannot be created (${code}). Name one where this user can write.`,
      { cause },
    );
  }
};

const isFolder = async (path: string): Promise<boolean> => {
  const found = await stat(path).catch(() => undefined);
  return found?.isDirectory() === true;
};

type Where = Pick<Config, 'dataDir'>;

/** The file exists in the data folder until a restore has finished. An interrupted restore continues. */
export const restoreMark = ({ dataDir }: Where): string => join(dataDir, 'restore-unfinished');

/** Refuses to start during an unfinished restore, because a service would create an empty database. @throws Error */
export const refuseHalfRestored = (where: Where): void => {
  const mark = restoreMark(where);
  if (!existsSync(mark)) return;
  throw new Error(
    `A restore into ${where.dataDir} was interrupted (${mark}). Run ${commandName()} restore again: it continues.`,
  );
};
