import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startGuard } from './servers/debian-server.ts';

const packing = ['package.json', 'package-lock.json', '.npmrc'];
const root = join(import.meta.dirname, '..', '..');

const git = async (...args: readonly string[]): Promise<string> => {
  const { stdout } = await promisify(execFile)('git', ['-C', root, ...args]);
  return stdout.trim();
};

/** The program of the previous release, in a separate folder. */
export interface LastRelease {
  readonly program: string;
  /** Its tag, or its commit. */
  readonly name: string;
  remove(): Promise<void>;
}

/**
 * The newest tag `v…` before this commit. Without tags, the commit before the newest migration came: the release that
 * has the most to lose by it.
 */
const lastRelease = async (): Promise<string> => {
  const tagged = git('describe', '--tags', '--abbrev=0', '--match', 'v*', 'HEAD^');
  return tagged.catch(async () => {
    const added = await git('log', '-1', '--format=%H', '--diff-filter=A', '--', 'db/migrations');
    return git('rev-parse', '--short', `${added}^`);
  });
};

/** Ours where they are the same, else those that it was released with. */
const providePackages = async (folder: string): Promise<void> => {
  const lists = [root, folder].map((one) => readFile(join(one, 'package-lock.json'), 'utf8'));
  const [ours, theirs] = await Promise.all(lists);
  if (ours === theirs) await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
  else {
    const options = ['--omit=dev', '--ignore-scripts', '--no-audit', '--no-fund'];
    await promisify(execFile)('npm', ['ci', ...options], { cwd: folder });
  }
};

/** @throws Error where the history is not there */
export const unpackLastRelease = async (): Promise<LastRelease> => {
  const name = await lastRelease();
  const folder = await mkdtemp(join(tmpdir(), 'last-release-'));
  const guard = startGuard(folder);
  const packed = join(folder, 'release.tar');
  await git('archive', '--format=tar', `--output=${packed}`, name, 'src', 'db', ...packing);
  const unpacked = join(folder, 'release');
  await mkdir(unpacked);
  await promisify(execFile)('tar', ['-xf', packed, '-C', unpacked]);
  await providePackages(unpacked);
  return {
    program: join(unpacked, 'src', 'main.ts'),
    name,
    remove: async () => {
      await rm(folder, { recursive: true, force: true });
      guard.end();
    },
  };
};
