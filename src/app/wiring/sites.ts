import { join } from 'node:path';
import type { ResolutionContext } from 'inversify';
import { Accounts } from '../../access/ports.ts';
import { objectStoreMeasures } from '../../adapters/http/metrics/measures.ts';
import { Database } from '../../adapters/kysely/database.ts';
import { KyselyOutbox } from '../../adapters/kysely/kysely-outbox.ts';
import { EdgePort } from '../../adapters/kysely/sites/project-routes.ts';
import { KyselyProjects } from '../../adapters/kysely/sites/kysely-projects.ts';
import { FileSystemSiteFiles } from '../../adapters/storage/file-system-site-files.ts';
import { ContentCache } from '../../adapters/storage/s3/content-cache.ts';
import { S3SiteFiles, S3Unpacking } from '../../adapters/storage/s3/s3-site-files.ts';
import { S3Store } from '../../adapters/storage/s3/s3-store.ts';
import { ThreadedUnpacking } from '../../adapters/threads/threaded-unpacking.ts';
import { uploadSlots } from '../../adapters/uploads/slots.ts';
import { Uploads } from '../../adapters/uploads/uploads.ts';
import { Clock, Deadline, Ids } from '../../kernel/ports.ts';
import { Allowances, Projects, SiteFiles, SiteUnpacking } from '../../sites/ports.ts';
import { sites } from '../../sites/sites.ts';
import { ConfigKey, DomainsKey, LogKey, MetricsKey, ObjectStoreKey, SitesKey } from '../keys.ts';
import { PlanAllowances } from '../plan-allowances.ts';
import { deploysFolder, objectStoreIn, SiteAddresses } from '../settings/addresses.ts';
import type { UnpackingSetup } from '../threads/unpack-sites.ts';
import { tracerOf } from '../tracing.ts';
import { apart } from './system.ts';
import { wiring } from './wiring.ts';

export const sitesModule = wiring((once) => {
  once(Projects, (c) => new KyselyProjects(c.get(Database), c.get(KyselyOutbox)));
  once(SiteAddresses, (c) => {
    const edgePort = new EdgePort(c.get(Database));
    return new SiteAddresses(edgePort, c.get(ConfigKey), c.get(DomainsKey));
  });
  once(ThreadedUnpacking, (c) => {
    const setup: UnpackingSetup = { folder: deploysFolder(c.get(ConfigKey)) };
    const entry = new URL('../threads/unpack-sites.ts', import.meta.url);
    return new ThreadedUnpacking({ entry, setup, threads: uploadSlots.unpacking.all });
  }).onDeactivation((unpacking) => unpacking.close());
  once(S3SiteFiles, storedFiles).onDeactivation((files) => {
    files.close();
  });
  once(ObjectStoreKey, (c) => (hasStore(c) ? c.get(S3SiteFiles) : undefined));
  once(SiteFiles, (c) =>
    hasStore(c) ? c.get(S3SiteFiles) : new FileSystemSiteFiles(deploysFolder(c.get(ConfigKey))),
  );
  once(SiteUnpacking, (c) => {
    const unpacking = c.get(ThreadedUnpacking);
    return hasStore(c) ? new S3Unpacking(unpacking, c.get(S3SiteFiles)) : unpacking;
  });
  once(Allowances, (c) => new PlanAllowances(c.get(Accounts)));
  once(
    Uploads,
    (c) =>
      new Uploads({
        sites: c.get(SitesKey),
        ids: c.get(Ids),
        deadline: c.get(Deadline),
        folder: join(c.get(ConfigKey).dataDir, 'uploads'),
      }),
  );
  once(SitesKey, (c) =>
    sites({
      projects: c.get(Projects),
      files: c.get(SiteFiles),
      unpacking: apart(c.get(Deadline), c.get(SiteUnpacking)),
      allowances: c.get(Allowances),
      clock: c.get(Clock),
      ids: c.get(Ids),
    }),
  );
});

const hasStore = (c: ResolutionContext): boolean => objectStoreIn(c.get(ConfigKey)) !== undefined;

/** Disk space that the edges of a machine use to cache the object store. */
const mostBytes = 4 * 1024 ** 3;

const storedFiles = (c: ResolutionContext): S3SiteFiles => {
  const [config, log] = [c.get(ConfigKey), c.get(LogKey)];
  const place = objectStoreIn(config);
  if (!place) throw new Error('DEPLOYS_URL is not set');
  const cache = new ContentCache({
    folder: join(config.dataDir, 'deploys-cache'),
    mostBytes,
    onProblem: (error) => {
      log.warn({ err: error }, 'cache of deploys cannot be written');
    },
  });
  const store = new S3Store(place, tracerOf(c));
  const metrics = c.get(MetricsKey, { optional: true });
  metrics?.show(objectStoreMeasures, () => store);
  return new S3SiteFiles({ store, cache, staging: deploysFolder(config) });
};
