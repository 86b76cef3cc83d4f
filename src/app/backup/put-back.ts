import { storedForms } from '../../adapters/storage/stored-form.ts';
import { Unavailable } from '../../kernel/unavailable.ts';
import type { ReadForm, SiteFiles } from '../../sites/ports.ts';
import { isAsBackedUp } from './is-as-backed-up.ts';
import type { OnProgress } from './copy-together.ts';
import { DamagedContent } from './content-of.ts';
import type { BackupFolder } from './folder.ts';
import type { Content, Manifest } from './manifest.ts';

interface PuttingBack {
  readonly files: SiteFiles;
  readonly folder: BackupFolder;
  readonly deploys: Manifest['deploys'];
}

export interface PutBack {
  /** Deploys that are damaged in the backup, and how. */
  readonly lost: Readonly<Record<string, string>>;
  /** Deploys of which the storage had something else. */
  readonly replaced: readonly string[];
}

export const putBackAll = async (
  { files, folder, deploys }: PuttingBack,
  onProgress: OnProgress,
): Promise<PutBack> => {
  const lost: Record<string, string> = {};
  const replaced: string[] = [];
  const all = Object.entries(deploys);
  for (const [at, [id, list]] of all.entries()) {
    onProgress('restoring deploys', at, all.length);
    try {
      if ((await putBack({ files, folder }, id, list)) === 'replaced') replaced.push(id);
    } catch (error) {
      if (!(error instanceof DamagedContent)) throw error;
      lost[id] = error.message;
    }
  }
  return { lost, replaced };
};

/** Unless the storage has it: an object store often outlives the database. */
const putBack = async (
  { files, folder }: Pick<PuttingBack, 'files' | 'folder'>,
  id: string,
  content: Content,
): Promise<'added' | 'replaced' | 'left'> => {
  const list = await folder.deployList(content);
  const found = await files.list(id).catch(unreadable);
  if (JSON.stringify(found) === JSON.stringify(list.files)) {
    if (await isAsBackedUp(files, id, list)) return 'left';
  }
  // Nothing of the storage is given up for a backup that is damaged itself.
  if (found) for (const one of Object.values(list.contents)) await folder.verify(one);
  const read: ReadForm = (file, encoding) => {
    const form = storedForms(file).find((one) => one.encoding === encoding);
    const stored = list.contents[form?.name ?? ''];
    if (!stored) throw new DamagedContent(`${file.path} is not in the list of its deploy`);
    return folder.read(stored);
  };
  await files.putBack(id, list.files, read);
  return found ? 'replaced' : 'added';
};

/** What is no list, or no answer: if the storage is away, putting it back fails as well. */
const unreadable = (error: unknown): readonly [] => {
  if (!(error instanceof Unavailable)) throw error;
  return [];
};
