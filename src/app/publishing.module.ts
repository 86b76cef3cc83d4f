import { join } from 'node:path';
import { ContainerModule } from 'inversify';
import { LocalCertificateAuthority } from '../adapters/acme/local-certificate-authority.ts';
import { EdgeServer } from '../adapters/edge/edge-server.ts';
import { RouteTable } from '../adapters/edge/route-table.ts';
import { SiteShelf } from '../adapters/edge/site-shelf.ts';
import { FileSystemSiteFiles } from '../adapters/storage/file-system-site-files.ts';
import { Clock } from '../kernel/clock.ts';
import { Sealer } from '../kernel/sealer.ts';
import { CertificateAuthority, EdgeRecords, SiteFiles } from '../sites/ports.ts';
import { ConfigKey, LogKey } from './keys.ts';

/** Where sites are kept, who vouches for their names, and the servers that answer for them. */
export const publishing = new ContainerModule(({ bind }) => {
  bind(SiteFiles)
    .toDynamicValue((c) => new FileSystemSiteFiles(join(c.get(ConfigKey).dataDir, 'deploys')))
    .inSingletonScope();
  bind(CertificateAuthority)
    .toDynamicValue(
      (c) =>
        new LocalCertificateAuthority({
          folder: c.get(ConfigKey).dataDir,
          sealer: c.get(Sealer),
          clock: c.get(Clock),
        }),
    )
    .inSingletonScope();
  bind(RouteTable)
    .toDynamicValue(
      (c) => new RouteTable(c.get(EdgeRecords), c.get(ConfigKey).platformHost, c.get(LogKey)),
    )
    .inSingletonScope();
  bind(EdgeServer)
    .toDynamicValue(
      (c) =>
        new EdgeServer({
          routes: c.get(RouteTable),
          shelf: new SiteShelf(c.get(SiteFiles)),
          log: c.get(LogKey),
        }),
    )
    .inSingletonScope();
});
