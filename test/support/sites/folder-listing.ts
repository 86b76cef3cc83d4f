import { hash } from 'node:crypto';
import { lstat, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Everything in a folder, however deep: paths, and for files their permissions and content. */
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
