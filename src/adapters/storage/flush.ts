import { open } from 'node:fs/promises';

/** What was written to a file, or to the list of a folder, outlasts a power cut. */
export const flush = async (path: string): Promise<void> => {
  const file = await open(path);
  try {
    await file.sync();
  } finally {
    await file.close();
  }
};
