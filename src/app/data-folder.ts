import { existsSync } from 'node:fs';
import { mkdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { databaseFile } from '../adapters/kysely/engine/database-kind.ts';
import { databaseProblem, dataFolderProblem } from './failure-words.ts';
import type { Config } from './settings/settings.ts';
import { commandName } from './version.ts';

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

/**
 * Makes a folder for this user alone, and those above it. Node's `recursive` would try for ever where a folder exists
 * but nothing can be made in it, as in /proc.
 * @throws Error that says why
 */
export const makeFolder = async (path: string): Promise<void> => {
  if (!existsSync(dirname(path))) await makeFolder(dirname(path));
  try {
    await mkdir(path, { mode: 0o700 });
  } catch (cause) {
    if (await isFolder(path)) return;
    const { code = 'unknown' } = cause as NodeJS.ErrnoException;
    throw new Error(
      `The folder ${path} cannot be made (${code}). Name one where this user can write.`,
      { cause },
    );
  }
};

const isFolder = async (path: string): Promise<boolean> => {
  const found = await stat(path).catch(() => undefined);
  return found?.isDirectory() === true;
};

type Where = Pick<Config, 'dataDir'>;

/** In the data folder while a restore is not finished; one that was interrupted goes on beside what it has left. */
export const restoreMark = ({ dataDir }: Where): string => join(dataDir, 'restore-unfinished');

/** Before anything is written: a service would make an empty database there. @throws Error while a restore is not finished */
export const refuseHalfRestored = (where: Where): void => {
  const mark = restoreMark(where);
  if (!existsSync(mark)) return;
  throw new Error(
    `A restore into ${where.dataDir} was interrupted (${mark}). Run ${commandName()} restore again: it continues.`,
  );
};
