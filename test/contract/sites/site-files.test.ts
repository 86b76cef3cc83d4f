import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe } from '@jest/globals';
import { FileSystemSiteFiles } from '../../../src/adapters/storage/file-system-site-files.ts';
import { startObjectStore } from '../../support/servers/object-store.ts';
import { machineAt } from '../../support/sites/object-store-files.ts';
import { siteFilesContract } from './site-files.contract.ts';

describe('site files in a folder', () => {
  siteFilesContract(async () => {
    const folder = await mkdtemp(join(tmpdir(), 'animal-store-files-'));
    return {
      files: new FileSystemSiteFiles(join(folder, 'deploys')),
      close: () => rm(folder, { recursive: true }),
    };
  });
});

describe('site files in an object store', () => {
  siteFilesContract(async () => {
    const store = await startObjectStore();
    const machine = await machineAt(store.place);
    return {
      files: machine.files,
      close: async () => void (await Promise.all([machine.close(), store.stop()])),
    };
  });
});
