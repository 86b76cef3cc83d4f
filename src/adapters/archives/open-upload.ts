import { stat } from 'node:fs/promises';
import type { SiteSource } from '../../sites/ports.ts';
import { archiveSource } from './archive-source.ts';
import { folderSource } from './folder-source.ts';

/**
 * Opens a folder or an archive on this machine.
 * @throws DomainError `archive_unsupported`, `archive_unreadable`
 */
export const openUpload = async (place: string): Promise<SiteSource> => {
  const found = await stat(place).catch(() => undefined);
  return found?.isDirectory() ? folderSource(place) : archiveSource(place);
};
