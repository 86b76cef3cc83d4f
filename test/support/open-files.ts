import { readdir, readlink } from 'node:fs/promises';

/** Whether this process has the file open. */
export const isOpen = async (path: string): Promise<boolean> => {
  const handles = await readdir('/proc/self/fd');
  const open = handles.map((one) => readlink(`/proc/self/fd/${one}`).catch(() => undefined));
  return (await Promise.all(open)).includes(path);
};
