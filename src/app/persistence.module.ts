import { ContainerModule } from 'inversify';
import { Accounts, ApiKeys } from '../access/key-ports.ts';
import { People, Sessions, SignInLinks } from '../access/people-ports.ts';
import { AuditLog, IdempotencyKeys } from '../access/ports.ts';
import { CounterSnapshots } from '../access/quota-ports.ts';
import { UsageLog } from '../access/usage-ports.ts';
import { StoredSignal, type StoredListener } from '../adapters/events/stored-signal.ts';
import { Database } from '../adapters/kysely/database.ts';
import { EdgePort } from '../adapters/kysely/sites/edge-port.ts';
import { KyselyAccounts } from '../adapters/kysely/access/kysely-accounts.ts';
import { KyselyApiKeys } from '../adapters/kysely/access/kysely-api-keys.ts';
import { KyselyAuditLog } from '../adapters/kysely/access/kysely-audit-log.ts';
import { KyselyAuthorityAccounts } from '../adapters/kysely/sites/kysely-authority-accounts.ts';
import { KyselyAuthorityLedger } from '../adapters/kysely/sites/kysely-authority-ledger.ts';
import { KyselyCertificateOrders } from '../adapters/kysely/sites/kysely-certificate-orders.ts';
import { KyselyCertificates } from '../adapters/kysely/sites/kysely-certificates.ts';
import { KyselyCounterSnapshots } from '../adapters/kysely/access/kysely-counter-snapshots.ts';
import { KyselyCustomDomains } from '../adapters/kysely/sites/kysely-custom-domains.ts';
import { KyselyEdgeRecords } from '../adapters/kysely/sites/kysely-edge-records.ts';
import { KyselyIdempotencyKeys } from '../adapters/kysely/access/kysely-idempotency-keys.ts';
import { KyselyJobLeases } from '../adapters/kysely/kysely-job-leases.ts';
import { KyselyOrders } from '../adapters/kysely/catalogue/kysely-orders.ts';
import { KyselyOutbox } from '../adapters/kysely/kysely-outbox.ts';
import { KyselyPeople } from '../adapters/kysely/access/kysely-people.ts';
import { KyselyPets } from '../adapters/kysely/catalogue/kysely-pets.ts';
import { KyselyProjectSettings } from '../adapters/kysely/sites/kysely-project-settings.ts';
import { KyselyProjects } from '../adapters/kysely/sites/kysely-projects.ts';
import { KyselySessions } from '../adapters/kysely/access/kysely-sessions.ts';
import { KyselySignInLinks } from '../adapters/kysely/access/kysely-sign-in-links.ts';
import { KyselyTimeline } from '../adapters/kysely/sites/kysely-timeline.ts';
import { KyselyUsageLog } from '../adapters/kysely/access/kysely-usage-log.ts';
import { RedisSignals } from '../adapters/redis/redis-signals.ts';
import { Orders, Pets } from '../catalogue/ports.ts';
import { Acting } from '../kernel/acting.ts';
import { Clock } from '../kernel/clock.ts';
import { Deadline } from '../kernel/deadline.ts';
import { Ids } from '../kernel/ids.ts';
import { JobLeases } from '../kernel/job-leases.ts';
import { Outbox } from '../kernel/outbox.ts';
import { Sealer } from '../kernel/sealer.ts';
import {
  AuthorityLedger,
  CertificateOrders,
  CustomDomains,
  ProjectSettings,
  Timeline,
} from '../domains/ports.ts';
import { AuthorityAccounts, Certificates, EdgeRecords, Projects } from '../sites/ports.ts';
import { ConfigKey, LogKey } from './keys.ts';
import { SiteAddresses } from './site-addresses.ts';
import { hiddenTypes, subscribersOf } from './subscriptions.ts';

export const persistence = new ContainerModule(({ bind }) => {
  bind(Database)
    .toDynamicValue((c) => {
      const log = c.get(LogKey);
      const onOutage = {
        onAway: (err: unknown) => {
          log.warn({ err }, 'database away: what needs it is answered 503 until it is back');
        },
        onBack: (awayMs: number) => {
          log.info({ seconds: Math.round(awayMs / 1000) }, 'database back');
        },
      };
      return new Database(c.get(ConfigKey).databaseUrl, { onOutage, deadline: c.get(Deadline) });
    })
    .inSingletonScope()
    .onDeactivation((database) => database.close());
  bind(KyselyOutbox)
    .toDynamicValue((c) => {
      const signal = c.get(StoredSignal);
      const hasFleet = c.get(ConfigKey).redisUrl !== undefined;
      const tell: StoredListener = (accountIds, hasDeliveries) => {
        signal.raise(accountIds, hasDeliveries);
        if (hasFleet) c.get(RedisSignals).tell(accountIds);
      };
      const deadline = c.get(Deadline);
      // The request that stored it does not wait for what comes of it.
      const onStored: StoredListener = (accountIds, hasDeliveries) => {
        void deadline.apart(() => {
          tell(accountIds, hasDeliveries);
          return Promise.resolve();
        });
      };
      const [ids, acting] = [c.get(Ids), c.get(Acting)];
      return new KyselyOutbox(c.get(Database), { ids, acting, subscribersOf, onStored });
    })
    .inSingletonScope();
  bind(Outbox).toService(KyselyOutbox);
  bind(KyselyPets)
    .toDynamicValue((c) => new KyselyPets(c.get(Database), c.get(KyselyOutbox)))
    .inSingletonScope();
  bind(Pets).toService(KyselyPets);
  bind(Orders)
    .toDynamicValue(
      (c) => new KyselyOrders(c.get(Database), c.get(KyselyOutbox), c.get(KyselyPets)),
    )
    .inSingletonScope();
  bind(KyselyApiKeys)
    .toDynamicValue((c) => new KyselyApiKeys(c.get(Database), c.get(KyselyOutbox)))
    .inSingletonScope();
  bind(ApiKeys).toService(KyselyApiKeys);
  bind(KyselyPeople)
    .toDynamicValue((c) => new KyselyPeople(c.get(Database), c.get(KyselyOutbox)))
    .inSingletonScope();
  bind(People).toService(KyselyPeople);
  bind(Accounts)
    .toDynamicValue((c) => {
      const [apiKeys, people] = [c.get(KyselyApiKeys), c.get(KyselyPeople)];
      return new KyselyAccounts(c.get(Database), c.get(KyselyOutbox), { apiKeys, people });
    })
    .inSingletonScope();
  bind(Sessions)
    .toDynamicValue((c) => new KyselySessions(c.get(Database), c.get(KyselyOutbox)))
    .inSingletonScope();
  bind(SignInLinks)
    .toDynamicValue((c) => new KyselySignInLinks(c.get(Database), c.get(KyselyOutbox)))
    .inSingletonScope();
  bind(AuditLog)
    .toDynamicValue((c) => new KyselyAuditLog(c.get(Database), hiddenTypes))
    .inSingletonScope();
  bind(IdempotencyKeys)
    .toDynamicValue((c) => new KyselyIdempotencyKeys(c.get(Database)))
    .inSingletonScope();
  bind(CounterSnapshots)
    .toDynamicValue((c) => new KyselyCounterSnapshots(c.get(Database)))
    .inSingletonScope();
  bind(UsageLog)
    .toDynamicValue((c) => new KyselyUsageLog(c.get(Database)))
    .inSingletonScope();
  bind(Projects)
    .toDynamicValue((c) => new KyselyProjects(c.get(Database), c.get(KyselyOutbox)))
    .inSingletonScope();
  bind(EdgeRecords)
    .toDynamicValue((c) => new KyselyEdgeRecords(c.get(Database), c.get(Sealer)))
    .inSingletonScope();
  bind(Certificates)
    .toDynamicValue((c) => new KyselyCertificates(c.get(Database), c.get(Sealer)))
    .inSingletonScope();
  bind(CustomDomains)
    .toDynamicValue(
      (c) =>
        new KyselyCustomDomains(c.get(Database), c.get(KyselyOutbox), {
          ...{ sealer: c.get(Sealer), ids: c.get(Ids), clock: c.get(Clock) },
        }),
    )
    .inSingletonScope();
  bind(ProjectSettings)
    .toDynamicValue(
      (c) => new KyselyProjectSettings(c.get(Database), c.get(KyselyOutbox), c.get(Clock)),
    )
    .inSingletonScope();
  bind(CertificateOrders)
    .toDynamicValue((c) => new KyselyCertificateOrders(c.get(Database), c.get(Sealer)))
    .inSingletonScope();
  bind(JobLeases)
    .toDynamicValue((c) => new KyselyJobLeases(c.get(Database)))
    .inSingletonScope();
  bind(AuthorityLedger)
    .toDynamicValue((c) => new KyselyAuthorityLedger(c.get(Database)))
    .inSingletonScope();
  bind(AuthorityAccounts)
    .toDynamicValue((c) => new KyselyAuthorityAccounts(c.get(Database), c.get(Sealer)))
    .inSingletonScope();
  bind(SiteAddresses)
    .toDynamicValue((c) => new SiteAddresses(new EdgePort(c.get(Database)), c.get(ConfigKey)))
    .inSingletonScope();
  bind(Timeline)
    .toDynamicValue((c) => new KyselyTimeline(c.get(Database)))
    .inSingletonScope();
});
