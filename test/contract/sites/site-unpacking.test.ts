import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { openUpload } from '../../../src/adapters/archives/open-upload.ts';
import { FileSystemSiteFiles } from '../../../src/adapters/storage/file-system-site-files.ts';
import { S3Unpacking } from '../../../src/adapters/storage/s3/s3-site-files.ts';
import { DirectUnpacking, listingOf, plainTree } from '../../support/sites/direct-unpacking.ts';
import { ThreadedUnpacking } from '../../../src/adapters/threads/threaded-unpacking.ts';
import type { ThreadLimits } from '../../../src/adapters/threads/task-thread.ts';
import { deploySite } from '../../../src/sites/use-cases/deploy-site.ts';
import { startObjectStore } from '../../support/servers/object-store.ts';
import { byOperator } from '../../support/sites/sites.ts';
import { siteLab } from '../../support/sites/site-lab.ts';
import { processOn } from '../../support/sites/object-store-files.ts';
import { siteUnpackingContract } from './site-unpacking.contract.ts';
import { storesOfTests } from '../../support/stores-of-tests.ts';

const open = storesOfTests();
const entry = new URL('../../../src/app/threads/unpack-sites.ts', import.meta.url);

const threaded = (folder: string, limits: Partial<ThreadLimits> = {}) =>
  new ThreadedUnpacking({ entry, folder, ...limits });

describe('unpacking in the calling thread', () => {
  siteUnpackingContract((folder) => {
    const files = new FileSystemSiteFiles(folder);
    const unpacking = new DirectUnpacking(files, openUpload);
    return { files, unpacking, close: () => Promise.resolve() };
  });
});

describe('unpacking in separate threads', () => {
  siteUnpackingContract((folder) => {
    const unpacking = threaded(folder);
    return {
      files: new FileSystemSiteFiles(folder),
      unpacking,
      close: () => unpacking.close(),
    };
  });
});

describe('unpacking in separate threads, for an object store', () => {
  siteUnpackingContract(async (folder) => {
    const store = await startObjectStore();
    const { files, staging } = processOn({ place: store.place, folder });
    const threads = threaded(staging);
    return {
      files,
      unpacking: new S3Unpacking(threads, files),
      close: async () => {
        await threads.close();
        files.close();
        await store.stop();
      },
    };
  });
});

describe('an upload that exceeds a limit', () => {
  let folder: string;
  let place: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'animal-store-costly-'));
    const words = Array.from({ length: 200 }, (_, at) => [
      `${at}.html`,
      randomBytes(100_000).toString('base64'),
    ]);
    place = await plainTree(join(folder, 'site'), {
      'index.html': 'Birds',
      ...(Object.fromEntries(words) as Readonly<Record<string, string>>),
    });
  });
  afterEach(() => rm(folder, { recursive: true }));

  test.each([
    ['too long', { deadlineMs: 50 }, /^Unpacking and compressing took longer than/],
    ['too much memory', { memoryMiB: 1 }, /^Unpacking and compressing took more than 1 MiB/],
  ] as const)('(%s) is a deploy that failed, and leaves nothing', async (_, limits, words) => {
    const deploys = join(folder, 'deploys');
    // The process may end before it creates this folder.
    await mkdir(deploys);
    const files = new FileSystemSiteFiles(deploys);
    const unpacking = threaded(deploys, limits);
    const { project, projects, allowances, clock, site } = await siteLab(await open(), files);
    const ids = { next: () => 'dep_1' };
    const deploy = await deploySite({ projects, files, unpacking, allowances, clock, ids })(
      project,
      { upload: place, ...byOperator },
    );
    expect(deploy).toMatchObject({ state: 'failed', problem: 'archive_too_costly' });
    expect(deploy).toHaveProperty('explanation', expect.stringMatching(words));
    expect((await site()).deploys).toEqual([deploy]);
    expect(await listingOf(deploys)).toEqual([]);
    await unpacking.close();
  });
});
