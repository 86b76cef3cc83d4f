import { hash } from 'node:crypto';
import { lstat, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** All that is in a folder, however deep: its paths, and of files their rights and what is in them. */
export const listingOf = async (folder: string): Promise<readonly string[]> => {
  const paths = await readdir(folder, { recursive: true });
  const lines = paths.sort().map(async (path) => {
    const found = await lstat(join(folder, path));
    const mode = found.mode.toString(8);
    if (!found.isFile()) return `${path} ${mode}`;
    return `${path} ${mode} ${hash('sha256', await readFile(join(folder, path)))}`;
  });
  return Promise.all(lines);
};
