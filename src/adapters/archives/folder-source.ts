import { constants, type Dirent } from 'node:fs';
import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { siteLimits, type EntryKind } from '../../sites/domain/site-contents.ts';
import type { SiteSource, SourceEntry } from '../../sites/ports.ts';
import { unreadable } from './archive-problem.ts';
import { bytesOf } from './file-bytes.ts';

/**
 * A folder on this machine, in sorted order. Links are listed and never followed; hidden folders (".git") are listed
 * without their content.
 * @throws DomainError `archive_unreadable` when it, or a folder in it, cannot be read
 */
export const folderSource = async (path: string): Promise<SiteSource> => {
  let total = 0;
  const more = walk(path);
  while (total <= siteLimits.entries && !(await more.next()).done) total += 1;
  await more.return();
  return { entries: walk(path), total };
};

interface FolderEntry {
  readonly path: string;
  readonly kind: EntryKind;
}

async function* walk(root: string): AsyncGenerator<SourceEntry, void, undefined> {
  const ahead = await entriesIn(root, '');
  for (let entry = ahead.pop(); entry; entry = ahead.pop()) {
    const { path, kind } = entry;
    yield { path, kind, content: contentOf(root, path) };
    if (kind === 'folder' && !isHidden(path)) ahead.push(...(await entriesIn(root, path)));
  }
}

/** Last one first, to be taken from the end. */
const entriesIn = async (root: string, folder: string): Promise<FolderEntry[]> => {
  try {
    const found = await readdir(join(root, folder), { withFileTypes: true });
    return found
      .map((one) => ({ path: folder ? `${folder}/${one.name}` : one.name, kind: kindOf(one) }))
      .sort((one, other) => (one.path < other.path ? 1 : -1));
  } catch (error) {
    throw unreadable(folder || root, error);
  }
};

const kindOf = (found: Dirent): EntryKind => {
  if (found.isFile()) return 'file';
  if (found.isDirectory()) return 'folder';
  return found.isSymbolicLink() ? 'link' : 'other';
};

/** Nothing in it would be published, and ".git" alone can exceed the limits of a site. */
const isHidden = (path: string): boolean => {
  const name = path.slice(path.lastIndexOf('/') + 1);
  return name.startsWith('.') && name !== '.well-known';
};

async function* contentOf(root: string, path: string) {
  try {
    // A file that was replaced by a link since the listing is not followed either.
    const file = await open(join(root, path), constants.O_RDONLY | constants.O_NOFOLLOW);
    try {
      yield* bytesOf(file);
    } finally {
      await file.close();
    }
  } catch (error) {
    throw unreadable(path, error);
  }
}
