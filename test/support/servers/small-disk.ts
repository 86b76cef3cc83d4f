import { execFile } from 'node:child_process';
import { mkdtemp, rm, statfs, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startMountGuard } from './debian-server.ts';

const run = promisify(execFile);

export interface SmallDisk {
  readonly folder: string;
  fill(): Promise<void>;
  free(): Promise<void>;
  remove(): Promise<void>;
}

/** @throws Error if this user may not mount anything */
export const mountSmallDisk = async (mebibytes: number): Promise<SmallDisk> => {
  const folder = await mkdtemp(join(tmpdir(), 'small-disk-'));
  const guard = startMountGuard(folder);
  try {
    const options = `size=${mebibytes}m,mode=0755`;
    await run('mount', ['-t', 'tmpfs', '-o', options, 'small-disk', folder]);
  } catch (error) {
    guard.end();
    throw new Error('a disk can be filled by root only: this user may not mount one', {
      cause: error,
    });
  }
  const filler = join(folder, 'filler');
  return {
    folder,
    fill: async () => {
      const { bavail, bsize } = await statfs(folder);
      await writeFile(filler, Buffer.alloc(bavail * bsize)).catch((error: unknown) => {
        // Another writer has used the last space.
        if ((error as { code?: unknown }).code !== 'ENOSPC') throw error;
      });
    },
    free: () => truncate(filler, 0),
    remove: async () => {
      await run('umount', ['--lazy', folder]);
      await rm(folder, { recursive: true, force: true });
      guard.end();
    },
  };
};
