import { join } from 'node:path';
import { FileSystemSiteFiles } from '../../adapters/storage/file-system-site-files.ts';
import type { SiteFiles } from '../../sites/ports.ts';
import type { Config } from '../settings/config.ts';
import { deploysFolder, objectStoreIn } from '../settings/deploys-place.ts';

/** The files of deploys, for `work`, without the database and everything else that a container opens. */
export const withSiteFiles = async <T>(
  config: Config,
  work: (files: SiteFiles) => Promise<T>,
): Promise<T> => {
  const place = objectStoreIn(config);
  const staging = deploysFolder(config);
  if (!place) return work(new FileSystemSiteFiles(staging));
  const [{ ContentCache }, { S3SiteFiles }, { S3Store }] = await Promise.all([
    import('../../adapters/storage/s3/content-cache.ts'),
    import('../../adapters/storage/s3/s3-site-files.ts'),
    import('../../adapters/storage/s3/s3-store.ts'),
  ]);
  // Not the cache of the edges: what is read here once would take the place of what visitors want.
  const cache = new ContentCache({
    folder: join(config.dataDir, 'backup-cache'),
    mostBytes: 0,
    onProblem: () => undefined,
  });
  const files = new S3SiteFiles({ store: new S3Store(place), cache, staging });
  try {
    return await work(files);
  } finally {
    files.close();
  }
};
