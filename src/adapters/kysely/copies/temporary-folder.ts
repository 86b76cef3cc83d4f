import { rmSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

interface TemporaryFolder {
  readonly path: string;
  remove(): Promise<void>;
}

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** For what nobody else may find: it is removed also when a signal ends this process. */
export const temporaryFolder = async (): Promise<TemporaryFolder> => {
  const path = await mkdtemp(join(tmpdir(), 'animal-store-check-'));
  const end = (signal: NodeJS.Signals) => {
    rmSync(path, { recursive: true, force: true });
    // This handler is gone now, so the signal ends the process.
    process.kill(process.pid, signal);
  };
  for (const signal of signals) process.once(signal, end);
  return {
    path,
    remove: async () => {
      for (const signal of signals) process.off(signal, end);
      await rm(path, { recursive: true, force: true });
    },
  };
};
