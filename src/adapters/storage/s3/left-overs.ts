import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { longestUploadMs } from '../../../sites/domain/deploy.ts';

/** Removes deploys that a dead process left behind. Uses the machine's clock, because that dates files. */
export const removeLeftOvers = async (folder: string): Promise<void> => {
  const old = Date.now() - longestUploadMs;
  for (const name of await readdir(folder).catch(() => [])) {
    const path = join(folder, name);
    // Another process may have removed it first.
    const found = await stat(path).catch(() => undefined);
    if (found && found.mtimeMs < old) await rm(path, { recursive: true, force: true });
  }
};
