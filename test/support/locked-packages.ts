import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const textOf = (path: string): Promise<string | undefined> =>
  readFile(path, 'utf8').catch(() => undefined);

/**
 * What a folder has in a package-lock.json of its own is needed too seldom for `make install`. It is installed when it
 * is first needed, and again when that file has changed; no script of a package runs.
 * @returns where the packages are
 */
export const lockedPackages = async (folder: string): Promise<string> => {
  const packages = join(folder, 'node_modules');
  const installed = join(packages, '.installed-lock.json');
  const lock = await readFile(join(folder, 'package-lock.json'), 'utf8');
  if ((await textOf(installed)) === lock) return packages;
  const quiet = ['--no-audit', '--no-fund', '--loglevel=error'];
  await promisify(execFile)('npm', ['ci', '--ignore-scripts', ...quiet], { cwd: folder });
  // Last, so that what was broken off is installed again.
  await writeFile(installed, lock);
  return packages;
};
