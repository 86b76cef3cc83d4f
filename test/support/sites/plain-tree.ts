import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** Writes files into a folder. @returns the folder */
export const plainTree = async (
  folder: string,
  files: Readonly<Record<string, string | Uint8Array>>,
): Promise<string> => {
  for (const [path, content] of Object.entries(files)) {
    const file = join(folder, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, content);
  }
  return folder;
};
