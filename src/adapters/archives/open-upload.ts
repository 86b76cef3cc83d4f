import { constants, type Dirent } from 'node:fs';
import { open, readdir, stat, type FileHandle } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { siteLimits, type EntryKind } from '../../sites/domain/site-contents.ts';
import type { SiteSource, SourceEntry } from '../../sites/ports.ts';
import { bytesOf, unreadable, unsupported } from './archive-bytes.ts';
import { tarEntries } from './tar-entries.ts';
import { countZipEntries, zipEntries } from './zip-entries.ts';

/** Opens a folder or an archive. @throws DomainError `archive_unsupported`, `archive_unreadable` */
export const openUpload = async (place: string): Promise<SiteSource> => {
  const found = await stat(place).catch(() => undefined);
  return found?.isDirectory() ? folderSource(place) : archiveSource(place);
};

/**
 * Lists a folder's files in sorted order. Does not follow links or enter hidden folders.
 * @throws DomainError `archive_unreadable`
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

/** Hidden folders are not published. ".git" alone can exceed the limits of a site. */
const isHidden = (path: string): boolean => {
  const name = path.slice(path.lastIndexOf('/') + 1);
  return name.startsWith('.') && name !== '.well-known';
};

async function* contentOf(root: string, path: string) {
  try {
    // This refuses a file that was replaced by a link after the listing.
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

/** Opens a .zip or gzipped tar, detected by its content. @throws DomainError `archive_unsupported`, `archive_unreadable` */
export const archiveSource = async (path: string): Promise<SiteSource> => {
  try {
    const handle = await open(path);
    try {
      return await sourceOf(path, handle);
    } finally {
      await handle.close();
    }
  } catch (error) {
    throw unreadable(basename(path), error);
  }
};

const sourceOf = async (path: string, handle: FileHandle): Promise<SiteSource> => {
  const { buffer } = await handle.read(Buffer.alloc(4), 0, 4, 0);
  switch (buffer.toString('hex')) {
    case '504b0304':
    case '504b0506':
      return { entries: zipEntries(path), total: await countZipEntries(handle) };
    default:
      if (buffer.readUInt16BE() !== 0x1f8b) throw unsupported("We can't read this file");
      return { entries: tarEntries(path), total: undefined };
  }
};
