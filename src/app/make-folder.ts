import { existsSync } from 'node:fs';
import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Makes a folder for this user alone, and those above it. Node's `recursive` would try for ever where a folder exists
 * but nothing can be made in it, as in /proc.
 * @throws Error that says why
 */
export const makeFolder = async (path: string): Promise<void> => {
  if (!existsSync(dirname(path))) await makeFolder(dirname(path));
  try {
    await mkdir(path, { mode: 0o700 });
  } catch (cause) {
    if (await isFolder(path)) return;
    const { code = 'unknown' } = cause as NodeJS.ErrnoException;
    throw new Error(
      `The folder ${path} cannot be made (${code}). Name one where this user can write.`,
      { cause },
    );
  }
};

const isFolder = async (path: string): Promise<boolean> => {
  const found = await stat(path).catch(() => undefined);
  return found?.isDirectory() === true;
};
