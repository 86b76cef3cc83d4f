import { join } from 'node:path';
import type { ContainerModule } from 'inversify';
import { Accounts } from '../../access/ports.ts';
import { objectStoreMeasures } from '../../adapters/http/metrics/measures.ts';
import { Database } from '../../adapters/kysely/database.ts';
import { KyselyOutbox } from '../../adapters/kysely/kysely-outbox.ts';
import { EdgePort } from '../../adapters/kysely/sites/project-routes.ts';
import { KyselyProjects } from '../../adapters/kysely/sites/kysely-projects.ts';
import { FileSystemSiteFiles } from '../../adapters/storage/file-system-site-files.ts';
import type { S3Place } from '../../adapters/storage/s3/s3-calls.ts';
import { ContentCache } from '../../adapters/storage/s3/content-cache.ts';
import { S3SiteFiles, S3Unpacking } from '../../adapters/storage/s3/s3-site-files.ts';
import { ThreadedUnpacking } from '../../adapters/threads/threaded-unpacking.ts';
import { Uploads } from '../../adapters/uploads/uploads.ts';
import { apart, Clock, Deadline, Ids } from '../../kernel/ports.ts';
import { Allowances, Projects, SiteFiles, SiteUnpacking } from '../../sites/ports.ts';
import { sites } from '../../sites/sites.ts';
import { ConfigKey, DomainsKey, LogKey, MetricsKey, SitesKey } from '../keys.ts';
import type { onDemand } from '../on-demand.ts';
import { PlanAllowances } from '../plan-allowances.ts';
import { deploysFolder, SiteAddresses } from '../settings/addresses.ts';
import { tracerOf } from '../tracing.ts';
import { wiring } from './wiring.ts';

export const sitesModule = wiring((once) => {
  once(Projects, (c) => new KyselyProjects(c.get(Database), c.get(KyselyOutbox)));
  once(SiteAddresses, (c) => {
    const edgePort = new EdgePort(c.get(Database));
    return new SiteAddresses(edgePort, c.get(ConfigKey), c.get(DomainsKey));
  });
  once(ThreadedUnpacking, (c) => {
    const entry = new URL('../threads/unpack-sites.ts', import.meta.url);
    return new ThreadedUnpacking({ entry, folder: deploysFolder(c.get(ConfigKey)) });
  }).onDeactivation((unpacking) => unpacking.close());
  once(SiteFiles, (c) => {
    const files = c.get(S3SiteFiles, { optional: true });
    return files ?? new FileSystemSiteFiles(deploysFolder(c.get(ConfigKey)));
  });
  once(SiteUnpacking, (c) => {
    const [unpacking, files] = [c.get(ThreadedUnpacking), c.get(S3SiteFiles, { optional: true })];
    return files ? new S3Unpacking(unpacking, files) : unpacking;
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

const mostBytes = 4 * 1024 ** 3;

/** Binds the object store that `DEPLOYS_URL` selects. */
export const objectStore = (
  place: S3Place,
  { S3Store }: Awaited<ReturnType<typeof onDemand.objectStore>>,
): ContainerModule =>
  wiring((once) => {
    once(S3SiteFiles, (c) => {
      const [config, log] = [c.get(ConfigKey), c.get(LogKey)];
      const cache = new ContentCache({
        folder: join(config.dataDir, 'deploys-cache'),
        mostBytes,
        onProblem: (error) => {
          log.warn({ err: error }, 'cache of deploys cannot be written');
        },
      });
      const store = new S3Store(place, tracerOf(c));
      c.get(MetricsKey, { optional: true })?.show(objectStoreMeasures, () => store);
      return new S3SiteFiles({ store, cache, staging: deploysFolder(config) });
    }).onDeactivation((files) => {
      files.close();
    });
  });
