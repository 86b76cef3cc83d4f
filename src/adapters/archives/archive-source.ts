import { open, type FileHandle } from 'node:fs/promises';
import { basename } from 'node:path';
import type { SiteSource } from '../../sites/ports.ts';
import { unreadable, unsupported } from './archive-problem.ts';
import { tarEntries } from './tar-entries.ts';
import { countZipEntries, zipEntries } from './zip-entries.ts';

/**
 * A .zip or a gzipped tar, detected by content, not by name. Nothing stays open until the entries are read.
 * @throws DomainError `archive_unsupported` for any other file, `archive_unreadable` when there is none
 */
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
