import { randomBytes } from 'node:crypto';
import { chmod, link, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Unavailable } from '../../kernel/unavailable.ts';

/** @returns undefined when there is none @throws Unavailable */
export const readWhole = (path: string): Promise<string | undefined> =>
  outside(() => readFile(path, 'utf8').catch(unless('ENOENT')));

/**
 * Whole or absent, and the same for all processes that start at once: a link fails where a file exists.
 * @returns the content now: `text`, or that of a faster process
 * @throws Unavailable
 */
export const createOnce = (path: string, text: string): Promise<string> =>
  outside(async () => {
    await place(path, text, 0o600, link).catch(unless('EEXIST'));
    return readFile(path, 'utf8');
  });

/** Replaces the file in one step. @param mode 0o600 for private files @throws Unavailable */
export const replaceWhole = (path: string, text: string, mode = 0o644): Promise<void> =>
  outside(() => place(path, text, mode, rename));

const place = async (
  path: string,
  text: string,
  mode: number,
  put: (draft: string, path: string) => Promise<void>,
): Promise<void> => {
  const draft = `${path}.${randomBytes(6).toString('hex')}`;
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  try {
    await writeFile(draft, text, { mode, flush: true });
    // Whatever the process's umask is, because the root must be readable.
    await chmod(draft, mode);
    await put(draft, path);
  } finally {
    await rm(draft, { force: true });
  }
};

/** For `catch`: swallows the one error that is an answer. */
const unless =
  (code: string) =>
  (error: unknown): undefined => {
    if ((error as { code?: unknown }).code !== code) throw error;
  };

const outside = async <T>(run: () => Promise<T>): Promise<T> => {
  try {
    return await run();
  } catch (error) {
    throw new Unavailable('The local certificate authority', error);
  }
};
