import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe } from '@jest/globals';
import { MemorySiteFiles } from '../../memory/memory-site-files.ts';
import { FileSystemSiteFiles } from '../../../src/adapters/storage/file-system-site-files.ts';
import { siteFilesContract } from './site-files.contract.ts';

describe('site files in memory', () => {
  siteFilesContract(() =>
    Promise.resolve({ files: new MemorySiteFiles(), close: () => Promise.resolve() }),
  );
});

describe('site files in a folder', () => {
  siteFilesContract(async () => {
    const folder = await mkdtemp(join(tmpdir(), 'animal-store-files-'));
    return {
      files: new FileSystemSiteFiles(join(folder, 'deploys')),
      close: () => rm(folder, { recursive: true }),
    };
  });
});
