import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { archiveSource } from '../../../src/adapters/archives/open-upload.ts';
import { FileSystemSiteFiles } from '../../../src/adapters/storage/file-system-site-files.ts';
import { listingOf, isOpen } from '../../support/sites/direct-unpacking.ts';
import {
  noArchives,
  type HostileArchive,
  hostileTars,
  hostileZips,
} from '../../support/sites/hostile-archives.ts';
import { siteLab, type SiteLab } from '../../support/sites/site-lab.ts';
import { entry, sourceOf } from '../../support/sites/sites.ts';
import { storesOfTests } from '../../support/stores-of-tests.ts';

const open = storesOfTests();
const escapeName = `escaped-${String(process.pid)}.txt`;

let folder: string;
let storage: string;
let upload: string;
let files: FileSystemSiteFiles;
let site: SiteLab;
let before: readonly string[];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'animal-store-hostile-'));
  storage = join(folder, 'var', 'deploys');
  await mkdir(join(folder, 'uploads'));
  upload = join(folder, 'uploads', 'upload');
  files = new FileSystemSiteFiles(storage);
  site = await siteLab(await open(), files);
  await site.deploy(sourceOf(entry('index.html'), entry('img/rex.jpg')));
  before = await listingOf(folder);
});
afterEach(() => rm(folder, { recursive: true }));

const deploy = async (bytes: Buffer) => {
  await writeFile(upload, bytes);
  try {
    return await site.deploy(await archiveSource(upload));
  } finally {
    expect(await isOpen(upload)).toBe(false);
    await rm(upload);
  }
};

const expectNothingEscaped = (): void => {
  for (const place of ['.', '..', '../..', '/', tmpdir()]) {
    expect(existsSync(resolve(place, escapeName))).toBe(false);
  }
};

const kinds: readonly (readonly [string, (escape: string) => readonly HostileArchive[]])[] = [
  ['zip', hostileZips],
  ['gzipped tar', hostileTars],
];

describe.each(kinds)('a %s with', (_, archives) => {
  const made = archives(join(tmpdir(), escapeName));

  test.each(made.filter(({ problem }) => problem !== undefined))(
    '$what is refused ($problem), and nothing is left of it',
    async ({ bytes, problem }) => {
      const served = (await site.site()).servedDeployId;
      const deployed = await deploy(await bytes());
      expect(deployed).toMatchObject({ state: 'failed', problem });
      expect(await files.list(deployed.id)).toBeUndefined();
      expect(await listingOf(folder)).toEqual(before);
      expect((await site.site()).servedDeployId).toBe(served);
      expectNothingEscaped();
    },
  );

  test.each(made.filter(({ problem }) => problem === undefined))(
    '$what is published, and stays inside its own folder',
    async ({ bytes }) => {
      const deployed = await deploy(await bytes());
      expect(deployed).toMatchObject({ state: 'succeeded' });
      expect((await site.site()).servedDeployId).toBe(deployed.id);
      for (const path of await readdir(join(storage, deployed.id))) {
        expect(path).toMatch(/^([A-Za-z0-9_-]{43}(\.br|\.gz)?|manifest\.json)$/);
      }
      await files.remove(deployed.id);
      expect(await listingOf(folder)).toEqual(before);
      expectNothingEscaped();
    },
  );
});

test.each(Object.entries(noArchives))('%s is not an archive', async (_, bytes) => {
  const deploying = deploy(bytes);
  await expect(deploying).rejects.toMatchObject({
    name: 'DomainError',
    code: 'archive_unsupported',
  });
  await expect(deploying).rejects.toThrow('.tar.gz');
  expect(await listingOf(folder)).toEqual(before);
});

test('a missing archive, or a folder in its place, is named', async () => {
  for (const path of [join(folder, 'nowhere.zip'), storage]) {
    const opening = archiveSource(path);
    await expect(opening).rejects.toHaveProperty('code', 'archive_unreadable');
    await expect(opening).rejects.toThrow(basename(path));
    await expect(opening).rejects.not.toThrow(folder);
  }
});
