import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { versionIn } from '../../src/app/version.ts';

const commit = '2b70b8c'.padEnd(40, '0');
let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'animal-store-version-'));
  await write({ 'package.json': '{"version":"1.0.0"}' });
});
afterEach(() => rm(root, { recursive: true }));

const write = async (files: Readonly<Record<string, string>>): Promise<void> => {
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, name)), { recursive: true });
    await writeFile(join(root, name), text);
  }
};

test('a release reports its version', () => {
  expect(versionIn(root)).toBe('1.0.0');
});

const branch = 'ref: refs/heads/main\n';

test.each([
  ['at a commit', { '.git/HEAD': `${commit}\n` }],
  ['on a branch', { '.git/HEAD': branch, '.git/refs/heads/main': `${commit}\n` }],
  [
    'on a branch that git has packed',
    {
      '.git/HEAD': branch,
      '.git/packed-refs': `# pack-refs\n${'1'.repeat(40)} refs/heads/other\n${commit} refs/heads/main\n`,
    },
  ],
  [
    'in a further work tree',
    {
      '.git': 'gitdir: main/.git/worktrees/further\n',
      'main/.git/worktrees/further/HEAD': branch,
      'main/.git/worktrees/further/commondir': '../..\n',
      'main/.git/refs/heads/main': `${commit}\n`,
    },
  ],
])('a checkout %s also names the commit', async (_, files) => {
  await write(files);
  expect(versionIn(root)).toBe('1.0.0+2b70b8c');
});

test('a checkout without a commit reports its version only', async () => {
  await write({ '.git/HEAD': branch });
  expect(versionIn(root)).toBe('1.0.0');
});
