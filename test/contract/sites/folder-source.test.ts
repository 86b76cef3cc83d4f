import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { folderSource } from '../../../src/adapters/archives/open-upload.ts';
import { FileSystemSiteFiles } from '../../../src/adapters/storage/file-system-site-files.ts';
import { siteLab } from '../../support/sites/site-lab.ts';
import { allOf } from '../../support/sites/sites.ts';
import { storesOfTests } from '../../support/stores-of-tests.ts';

const open = storesOfTests();
let home: string;
let folder: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'animal-store-folder-'));
  folder = join(home, 'site');
  await mkdir(folder);
});
afterEach(() => rm(home, { recursive: true }));

const put = async (...paths: readonly string[]): Promise<void> => {
  for (const path of paths) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), `this is ${path}`);
  }
};

const listed = async (): Promise<readonly string[]> => {
  const lines = [];
  for await (const { path, kind } of (await folderSource(folder)).entries) {
    lines.push(`${kind} ${path}`);
  }
  return lines;
};

test('a folder yields its files in sorted order, however deep they are', async () => {
  await put('index.html', 'b/2.txt', 'b/1.txt', 'a/ünï ☃.txt', 'b/c/d/e.txt', 'b.txt');
  await mkdir(join(folder, 'empty'));
  expect(await listed()).toEqual([
    'folder a',
    'file a/ünï ☃.txt',
    'folder b',
    'file b/1.txt',
    'file b/2.txt',
    'folder b/c',
    'folder b/c/d',
    'file b/c/d/e.txt',
    'file b.txt',
    'folder empty',
    'file index.html',
  ]);
});

test('the content of a file is read only when it is requested', async () => {
  await put('index.html', 'other.txt');
  await writeFile(join(folder, 'index.html'), 'x'.repeat(200_000));
  for await (const { path, content } of (await folderSource(folder)).entries) {
    if (path === 'other.txt') continue;
    expect((await allOf(content)).toString()).toBe('x'.repeat(200_000));
  }
});

test('links and special files are reported, never followed', async () => {
  await put('index.html', 'img/rex.jpg');
  await symlink('/etc', join(folder, 'out'));
  await symlink('img', join(folder, 'inside'));
  await symlink('..', join(folder, 'img', 'loop'));
  await promisify(execFile)('mkfifo', [join(folder, 'pipe')]);
  expect(await listed()).toEqual([
    'folder img',
    'link img/loop',
    'file img/rex.jpg',
    'file index.html',
    'link inside',
    'link out',
    'other pipe',
  ]);
});

test('a file that becomes a link before it is read is not read', async () => {
  await put('index.html', 'secret.txt');
  for await (const { path, content } of (await folderSource(folder)).entries) {
    if (path !== 'index.html') continue;
    await rm(join(folder, path));
    await symlink('secret.txt', join(folder, path));
    await expect(allOf(content)).rejects.toMatchObject({ code: 'archive_unreadable' });
  }
});

test('a hidden folder is reported without its content, except .well-known', async () => {
  const hidden = Array.from({ length: 50 }, (_, n) => `.git/objects/${String(n)}`);
  await put('index.html', '.env', '.well-known/security.txt', 'a/.cache/x', 'a/b.txt', ...hidden);
  expect(await listed()).toEqual([
    'file .env',
    'folder .git',
    'folder .well-known',
    'file .well-known/security.txt',
    'folder a',
    'folder a/.cache',
    'file a/b.txt',
    'file index.html',
  ]);
});

test('the number of entries is known in advance, up to one more than the limit', async () => {
  await put('index.html', 'a/b.txt');
  expect((await folderSource(folder)).total).toBe(3);
  await mkdir(join(folder, 'many'));
  for (let n = 0; n < 10_010; n++) await mkdir(join(folder, 'many', String(n)));
  const source = await folderSource(folder);
  expect(source.total).toBe(10_001);
  const { deploy } = await siteLab(await open(), new FileSystemSiteFiles(join(home, 'deploys')));
  const refused = { state: 'failed', problem: 'archive_too_many_entries' };
  expect(await deploy(source)).toMatchObject(refused);
});

test('a missing folder, or a file in its place, is named', async () => {
  await put('index.html');
  for (const name of ['nowhere', 'index.html']) {
    const opening = folderSource(join(folder, name));
    await expect(opening).rejects.toMatchObject({ code: 'archive_unreadable' });
    await expect(opening).rejects.toThrow(name);
  }
});

test('a folder is published as it is, without hidden files', async () => {
  await put('index.html', 'img/rex.jpg', '.cache/a', '.DS_Store', '.well-known/security.txt');
  const files = new FileSystemSiteFiles(join(home, 'deploys'));
  const { deploy } = await siteLab(await open(), files);
  const { id, ...deployed } = await deploy(await folderSource(folder));
  expect(deployed).toMatchObject({ state: 'succeeded', files: 3 });
  const paths = (await files.list(id))?.map(({ path }) => path);
  expect(paths?.toSorted()).toEqual(['.well-known/security.txt', 'img/rex.jpg', 'index.html']);
});
