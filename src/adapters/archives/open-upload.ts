import { stat } from 'node:fs/promises';
import type { SiteSource } from '../../sites/ports.ts';
import { archiveSource } from './archive-source.ts';
import { folderSource } from './folder-source.ts';

/**
 * What lies at a place on this machine: a folder or an archive.
 * @throws DomainError `archive_unsupported`, `archive_unreadable`
 */
export const openUpload = async (place: string): Promise<SiteSource> => {
  const found = await stat(place).catch(() => undefined);
  return found?.isDirectory() ? folderSource(place) : archiveSource(place);
};
