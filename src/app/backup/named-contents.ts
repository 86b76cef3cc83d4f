import { DamagedContent } from './content-of.ts';
import type { BackupFolder } from './folder.ts';
import type { Content, Manifest } from './manifest.ts';

/**
 * SHA-256 of what a manifest names.
 * @param known of lists whose contents need no look, because another manifest names them
 */
export const namedContents = async (
  folder: BackupFolder,
  { database, files, deploys }: Manifest,
  known: ReadonlySet<string>,
): Promise<readonly string[]> => {
  const named = [database.copy, ...Object.values(files)].map(({ sha256 }) => sha256);
  for (const list of Object.values(deploys)) {
    if (!known.has(list.sha256)) named.push(list.sha256, ...(await contentsOf(folder, list)));
  }
  return named;
};

/** None, if the list is damaged: nobody can find them by it. */
const contentsOf = async (folder: BackupFolder, list: Content): Promise<readonly string[]> => {
  try {
    const { contents } = await folder.deployList(list);
    return Object.values(contents).map(({ sha256 }) => sha256);
  } catch (error) {
    if (!(error instanceof DamagedContent)) throw error;
    return [];
  }
};
