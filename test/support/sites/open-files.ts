import { readdir, readlink } from 'node:fs/promises';

/** The paths of all files that this process has open, one for each descriptor. */
export const openPaths = async (): Promise<readonly string[]> => {
  const handles = await readdir('/proc/self/fd');
  const open = handles.map((one) => readlink(`/proc/self/fd/${one}`).catch(() => ''));
  return Promise.all(open);
};

/** Whether this process has the file open. */
export const isOpen = async (path: string): Promise<boolean> => (await openPaths()).includes(path);
