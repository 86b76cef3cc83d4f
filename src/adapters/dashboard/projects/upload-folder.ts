import { mkdir, open, readdir, rm, stat, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { longestUploadMs } from '../../../sites/domain/site.ts';
import { PageProblem } from '../frame/page-problem.ts';

/**
 * Lends `work` a new private file, and always removes it afterwards.
 * @param name not taken yet, and hard to guess
 * @throws PageProblem 503 when the disk is full; whatever `work` throws
 */
export const inUploadFile = async <T>(
  folder: string,
  name: string,
  work: (file: FileHandle, path: string) => Promise<T>,
): Promise<T> => {
  const path = join(folder, name);
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await removeLeftOvers(folder);
    const file = await open(path, 'wx', 0o600);
    try {
      return await work(file, path);
    } finally {
      await file.close();
    }
  } catch (error) {
    if (!isFull(error)) throw error;
    throw new PageProblem(503, 'Our server has no space left for uploads. Try again later.');
  } finally {
    await rm(path, { force: true });
  }
};

/** Removes uploads that a dead process left behind. Uses the machine's clock, because that dates files. */
const removeLeftOvers = async (folder: string): Promise<void> => {
  const old = Date.now() - longestUploadMs;
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    // Another process may have removed it first.
    const found = await stat(path).catch(() => undefined);
    if (found && found.mtimeMs < old) await rm(path, { force: true });
  }
};

const isFull = (error: unknown): boolean => {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'ENOSPC' || code === 'EDQUOT';
};
