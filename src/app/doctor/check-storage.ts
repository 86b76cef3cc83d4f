import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { open, rm, statfs } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { dataFolderProblem } from '../failure-words.ts';
import type { Config } from '../settings/config.ts';
import { failed, ok, warning, type Finding } from './finding.ts';

const mib = 1024 * 1024;
const least = { toWork: 100 * mib, toBeCalm: 1024 * mib };

/** Writes a file to the data folder (or its future parent), flushes it to the disk and removes it. */
export const checkStorage = async ({ dataDir }: Config): Promise<readonly Finding[]> => {
  const folder = nearest(resolve(dataDir));
  try {
    await tryToWrite(join(folder, `.doctor-${randomBytes(6).toString('hex')}`));
  } catch (error) {
    const { code = 'unknown' } = error as NodeJS.ErrnoException;
    const { seen, advice } = dataFolderProblem(dataDir, code);
    return [failed(seen, advice)];
  }
  const { bavail, bsize } = await statfs(folder);
  const free = bavail * bsize;
  const seen = `${dataDir} can be written, and has ${String(Math.floor(free / mib))} MiB free.`;
  const advice = 'Free some space on its disk, or set DATA_DIR to another one.';
  if (free < least.toWork) return [failed(seen, advice)];
  return [free < least.toBeCalm ? warning(seen, advice) : ok(seen)];
};

const tryToWrite = async (path: string): Promise<void> => {
  const file = await open(path, 'wx', 0o600);
  try {
    await file.writeFile('doctor');
    await file.sync();
  } finally {
    await file.close();
    await rm(path, { force: true });
  }
};

/** The folder itself, or the one that the first start makes it in. */
const nearest = (path: string): string =>
  existsSync(path) || dirname(path) === path ? path : nearest(dirname(path));
