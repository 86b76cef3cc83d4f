import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const textOf = (path: string): Promise<string | undefined> =>
  readFile(path, 'utf8').catch(() => undefined);

/**
 * Installs the packages of a folder with a separate package-lock.json, which are needed too rarely for `make install`.
 * Installs them at the first use, and again when that file changes. Runs no scripts of packages.
 * @returns where the packages are
 */
export const lockedPackages = async (folder: string): Promise<string> => {
  const packages = join(folder, 'node_modules');
  const installed = join(packages, '.installed-lock.json');
  const lock = await readFile(join(folder, 'package-lock.json'), 'utf8');
  if ((await textOf(installed)) === lock) return packages;
  const quiet = ['--no-audit', '--no-fund', '--loglevel=error'];
  await promisify(execFile)('npm', ['ci', '--ignore-scripts', ...quiet], { cwd: folder });
  // Written last, so that an interrupted installation is repeated.
  await writeFile(installed, lock);
  return packages;
};
