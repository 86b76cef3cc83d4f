import { readFileSync } from 'node:fs';
import { findPackageJSON } from 'node:module';
import { dirname, join, resolve } from 'node:path';

/** Returns the version in package.json; in a checkout with the commit, such as `1.0.0+2b70b8c`. */
export const version = (): string => {
  const path = findPackageJSON(import.meta.url);
  if (path === undefined) throw new Error('package.json is missing');
  return versionIn(dirname(path));
};

export const versionIn = (root: string): string => {
  const text = readFileSync(join(root, 'package.json'), 'utf8');
  const { version: released } = JSON.parse(text) as { readonly version: string };
  const commit = commitIn(root);
  return commit === undefined ? released : `${released}+${commit.slice(0, 7)}`;
};

/** Reads git's files, because git may not be installed. */
const commitIn = (root: string): string | undefined => {
  // In a linked work tree, `.git` is a file that points to the folder.
  const folder = resolve(root, after('gitdir: ', textIn(root, '.git')) ?? '.git');
  const head = textIn(folder, 'HEAD');
  const branch = after('ref: ', head);
  const commit = branch === undefined ? head : commitOf(branch, folder);
  return commit !== undefined && /^[0-9a-f]{40,64}$/.test(commit) ? commit : undefined;
};

const commitOf = (branch: string, folder: string): string | undefined => {
  const shared = resolve(folder, textIn(folder, 'commondir') ?? '.');
  const packed = textIn(shared, 'packed-refs')?.split('\n');
  const line = packed?.find((one) => one.endsWith(` ${branch}`));
  return textIn(shared, branch) ?? line?.split(' ')[0];
};

const after = (beginning: string, text = ''): string | undefined =>
  text.startsWith(beginning) ? text.slice(beginning.length) : undefined;

const textIn = (folder: string, name: string): string | undefined => {
  try {
    return readFileSync(join(folder, name), 'utf8').trim();
  } catch {
    return undefined;
  }
};

/** Returns the command that starts this program. `npx` is detected by its environment variable. */
export const commandName = (): string => {
  if (import.meta.url.endsWith('.ts')) return './animal-store';
  return process.env['npm_command'] === 'exec' ? 'npx animal-store' : 'animal-store';
};
