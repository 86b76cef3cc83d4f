import { objectStoreMeasures } from '../adapters/http/metrics/measures.ts';
import { ContentCache } from '../adapters/storage/s3/content-cache.ts';
import type { S3Place } from '../adapters/storage/s3/s3-client.ts';
import { S3SiteFiles, S3Unpacking } from '../adapters/storage/s3/s3-site-files.ts';
import { S3Store } from '../adapters/storage/s3/s3-store.ts';
import { ThreadedUnpacking } from '../adapters/threads/threaded-unpacking.ts';
import { SiteFiles, SiteUnpacking } from '../sites/ports.ts';
import { ConfigKey, LogKey, MetricsKey, ObjectStoreKey } from './keys.ts';
import { deploysCacheFolder, deploysFolder } from './settings/deploys-place.ts';
import { tracerOf } from './tracing.ts';
import { wiring } from './wiring.ts';

const gib = 1024 ** 3;

/** The files of deploys in an object store. */
export const storeFiles = (place: S3Place) =>
  wiring((once, bind) => {
    once(S3SiteFiles, (c) => {
      const [config, log] = [c.get(ConfigKey), c.get(LogKey)];
      const cache = new ContentCache({
        folder: deploysCacheFolder(config),
        mostBytes: config.deploysCacheGib * gib,
        onProblem: (error) => {
          log.warn({ err: error }, 'cache of deploys cannot be written');
        },
      });
      const store = new S3Store(place, tracerOf(c));
      const metrics = c.get(MetricsKey, { optional: true });
      metrics?.show(objectStoreMeasures, () => store);
      return new S3SiteFiles({ store, cache, staging: deploysFolder(config) });
    }).onDeactivation((files) => {
      files.close();
    });
    bind(SiteFiles).toService(S3SiteFiles);
    bind(ObjectStoreKey).toService(S3SiteFiles);
  });

/** In a process that publishes there. */
export const storeUnpacking = wiring((once) => {
  once(SiteUnpacking, (c) => new S3Unpacking(c.get(ThreadedUnpacking), c.get(S3SiteFiles)));
});
