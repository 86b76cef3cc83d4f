import { existsSync } from 'node:fs';
import files, { type FileHandle } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { dirname } from 'node:path';

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
type Change = (typeof changing)[number];
type Call = (...args: readonly unknown[]) => Promise<unknown>;

const instead = async (
  wrap: (name: Change, original: Call) => Call,
  work: () => Promise<unknown>,
) => {
  const originals = Object.fromEntries(changing.map((name) => [name, files[name]]));
  const wrapped = changing.map((name) => [name, wrap(name, files[name] as Call)]);
  Object.assign(files, Object.fromEntries(wrapped));
  syncBuiltinESMExports();
  try {
    await work();
  } finally {
    Object.assign(files, originals);
    syncBuiltinESMExports();
  }
};

class Killed extends Error {
  override readonly name = 'Killed';
}

/** Refuses overwriting, because a killed process would leave half of the file. */
const notOverwritten = (path: string): void => {
  if (existsSync(path) && !path.endsWith('.restoring')) {
    throw new Error(`${path} is overwritten`);
  }
};

const isReading = (name: Change, [, flags = 'r']: readonly unknown[]): boolean =>
  name === 'open' && flags === 'r';

/**
 * Runs `work` as a process that is killed before its `step`th change to the file system.
 * @returns false if it ended before that
 */
export const killedAt = async (step: number, work: () => Promise<unknown>): Promise<boolean> => {
  let done = 0;
  const guarded = (name: Change, original: Call): Call => {
    return (...args) => {
      if (isReading(name, args)) return original(...args);
      if (name === 'open') notOverwritten(String(args[0]));
      done += 1;
      return done >= step ? Promise.reject(new Killed(`at ${name}`)) : original(...args);
    };
  };
  try {
    await instead(guarded, work);
  } catch (error) {
    if (done < step) throw error;
  }
  return done >= step;
};

/**
 * @param onChange gets each change, with the files and folders that were changed before it and not flushed
 * @returns those that a power cut at the end would lose
 */
export const unflushed = async (
  work: () => Promise<unknown>,
  onChange: (name: Change, path: string, unflushed: readonly string[]) => void,
): Promise<readonly string[]> => {
  const pending = new Set<string>();
  const synced = new Set<string>();
  const watch = (name: Change, original: Call): Call => {
    return async (...args) => {
      const path = String(
        name === 'rename' || name === 'link' || name === 'copyFile' ? args[1] : args[0],
      );
      const isRead = isReading(name, args);
      if (!isRead) onChange(name, path, [...pending].sort());
      const result = await original(...args);
      if (name === 'open') {
        watchSync(result as FileHandle, () => {
          pending.delete(path);
          synced.add(path);
        });
      }
      if (isRead || name === 'chmod' || name === 'rm' || args[1] === 'r+') return result;
      const isWritten = ['open', 'copyFile', 'writeFile'].includes(name);
      const { flush = false } = (args[2] ?? {}) as { readonly flush?: boolean };
      if (isWritten) (flush ? synced : pending).add(path);
      // Other writers, such as SQLite, may have written a renamed file.
      if (name === 'rename' && !synced.has(String(args[0]))) pending.add(path);
      pending.add(dirname(path));
      return result;
    };
  };
  await instead(watch, work);
  return [...pending].sort();
};

const watchSync = (file: FileHandle, onSync: () => void): void => {
  const sync = file.sync.bind(file);
  file.sync = async () => {
    await sync();
    onSync();
  };
};
