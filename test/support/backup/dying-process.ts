import { existsSync } from 'node:fs';
import files from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';

const changing = [
  'open',
  'rename',
  'link',
  'mkdir',
  'rm',
  'chmod',
  'copyFile',
  'writeFile',
] as const;

class Killed extends Error {
  override readonly name = 'Killed';
}

/** Half of it would be there if the process were killed while it writes. */
const notOverwritten = (path: string): void => {
  if (existsSync(path) && !path.endsWith('.restoring')) throw new Error(`${path} is overwritten`);
};

/**
 * Runs `work` as a process that is killed before its `step`th change to the file system: from then on it changes
 * nothing any more.
 * @returns false when it ended without getting there
 */
export const killedAt = async (step: number, work: () => Promise<unknown>): Promise<boolean> => {
  let done = 0;
  const originals = Object.fromEntries(changing.map((name) => [name, files[name]]));
  const guarded = (name: (typeof changing)[number]) => {
    const original = files[name] as (...args: readonly unknown[]) => Promise<unknown>;
    return (...args: readonly unknown[]): Promise<unknown> => {
      // Opened to be read, or flushed.
      if (name === 'open' && (args[1] === undefined || args[1] === 'r')) return original(...args);
      if (name === 'open') notOverwritten(String(args[0]));
      done += 1;
      return done >= step ? Promise.reject(new Killed(`at ${name}`)) : original(...args);
    };
  };
  Object.assign(files, Object.fromEntries(changing.map((name) => [name, guarded(name)])));
  syncBuiltinESMExports();
  try {
    await work();
  } catch (error) {
    if (done < step) throw error;
  } finally {
    Object.assign(files, originals);
    syncBuiltinESMExports();
  }
  return done >= step;
};
