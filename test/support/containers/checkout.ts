import { cp, symlink } from 'node:fs/promises';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../../..');

/** What images and packages are made of. */
const paths = [
  ...['.dockerignore', 'CHANGELOG.md', 'CONTRIBUTING.md', 'LICENSE', 'Makefile', 'README.md'],
  ...[
    'SECURITY.md',
    'animal-store',
    'bin',
    'db',
    'docs',
    'ops',
    'package-lock.json',
    'package.json',
  ],
  ...['src', 'tsconfig.json', 'tsconfig.package.json'],
];

/** Other tests make the same files in the checkout itself. */
export const copyCheckout = async (folder: string): Promise<void> => {
  for (const path of paths) {
    await cp(join(root, path), join(folder, path), { recursive: true, preserveTimestamps: true });
  }
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
};
