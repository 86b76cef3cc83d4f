import { S3SiteFiles, S3Unpacking } from '../adapters/storage/s3/s3-site-files.ts';
import { ThreadedUnpacking } from '../adapters/threads/threaded-unpacking.ts';
import { SiteUnpacking } from '../sites/ports.ts';
import { wiring } from './wiring.ts';

/** Where there is an object store. */
export const storeUnpacking = wiring((once) => {
  once(SiteUnpacking, (c) => new S3Unpacking(c.get(ThreadedUnpacking), c.get(S3SiteFiles)));
});
