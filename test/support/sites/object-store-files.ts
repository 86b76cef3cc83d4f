import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ContentCache } from '../../../src/adapters/storage/s3/content-cache.ts';
import type { S3Place } from '../../../src/adapters/storage/s3/s3-calls.ts';
import { S3SiteFiles } from '../../../src/adapters/storage/s3/s3-site-files.ts';
import { S3Store } from '../../../src/adapters/storage/s3/s3-store.ts';

const gib = 1024 ** 3;

export interface Machine {
  readonly files: S3SiteFiles;
  readonly folder: string;
  readonly cache: string;
  readonly staging: string;
  /** Contents that the cache could not store. */
  readonly problems: readonly unknown[];
  /** Another process with the same folders. */
  again(mostBytes?: number): Machine;
  close(): Promise<void>;
}

/** Deploys in an object store, as seen from a machine with private folders. */
export const machineAt = async (place: S3Place, mostBytes = gib): Promise<Machine> => {
  const folder = await mkdtemp(join(tmpdir(), 'animal-store-machine-'));
  return processOn({ place, folder }, mostBytes);
};

export const processOn = (
  at: { readonly place: S3Place; readonly folder: string },
  mostBytes = gib,
): Machine => {
  const [cache, staging] = [join(at.folder, 'var', 'cache'), join(at.folder, 'var', 'staging')];
  const problems: unknown[] = [];
  const files = new S3SiteFiles({
    store: new S3Store(at.place),
    cache: new ContentCache({
      folder: cache,
      mostBytes,
      onProblem: (error) => void problems.push(error),
    }),
    staging,
  });
  return {
    files,
    folder: at.folder,
    cache,
    staging,
    problems,
    again: (bytes = mostBytes) => processOn(at, bytes),
    close: async () => {
      files.close();
      await rm(at.folder, { recursive: true, force: true });
    },
  };
};
