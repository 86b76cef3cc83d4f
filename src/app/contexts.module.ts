import { ContainerModule } from 'inversify';
import { access } from '../access/access.ts';
import { Accounts, ApiKeys, KeyMaterial, QuotaCounters, UsageLog } from '../access/ports.ts';
import { catalogue } from '../catalogue/catalogue.ts';
import { Orders, Pets } from '../catalogue/ports.ts';
import { Clock } from '../kernel/clock.ts';
import { Ids } from '../kernel/ids.ts';
import {
  CertificateAuthority,
  Certificates,
  EdgeRecords,
  Projects,
  SiteFiles,
} from '../sites/ports.ts';
import { sites } from '../sites/sites.ts';
import { AccessKey, CatalogueKey, ConfigKey, SitesKey } from './keys.ts';

/** The faces of the three contexts, each over its ports. */
export const contexts = new ContainerModule(({ bind }) => {
  bind(CatalogueKey)
    .toDynamicValue((c) =>
      catalogue({ pets: c.get(Pets), orders: c.get(Orders), clock: c.get(Clock) }),
    )
    .inSingletonScope();
  bind(AccessKey)
    .toDynamicValue((c) =>
      access({
        accounts: c.get(Accounts),
        apiKeys: c.get(ApiKeys),
        keyMaterial: c.get(KeyMaterial),
        counters: c.get(QuotaCounters),
        usage: c.get(UsageLog),
        clock: c.get(Clock),
        ids: c.get(Ids),
      }),
    )
    .inSingletonScope();
  bind(SitesKey)
    .toDynamicValue((c) =>
      sites({
        projects: c.get(Projects),
        files: c.get(SiteFiles),
        edgeRecords: c.get(EdgeRecords),
        certificates: c.get(Certificates),
        authority: c.get(CertificateAuthority),
        platformHost: c.get(ConfigKey).platformHost,
        clock: c.get(Clock),
        ids: c.get(Ids),
      }),
    )
    .inSingletonScope();
});
