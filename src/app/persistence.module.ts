import type { ResolutionContext } from 'inversify';
import {
  Accounts,
  ApiKeys,
  AuditLog,
  IdempotencyKeys,
  CounterSnapshots,
  UsageLog,
} from '../access/ports.ts';
import { MailRequests, People, Sessions, SignInLinks } from '../access/people-ports.ts';
import { StoredSignal, type StoredListener } from '../kernel/bell.ts';
import { Database } from '../adapters/kysely/database.ts';
import { EdgePort, KyselyProjectSettings } from '../adapters/kysely/sites/project-routes.ts';
import { KyselyAccounts } from '../adapters/kysely/access/kysely-accounts.ts';
import { KyselyApiKeys } from '../adapters/kysely/access/kysely-api-keys.ts';
import { KyselyAuditLog } from '../adapters/kysely/access/kysely-audit-log.ts';
import {
  KyselyAuthorityAccounts,
  KyselyCertificateOrders,
  KyselyDnsChallenges,
} from '../adapters/kysely/sites/kysely-certificate-orders.ts';
import { KyselyAuthorityLedger } from '../adapters/kysely/sites/kysely-authority-ledger.ts';
import {
  KyselyCertificates,
  KyselyOwnNames,
} from '../adapters/kysely/sites/kysely-certificates.ts';
import {
  KyselyCounterSnapshots,
  KyselyUsageLog,
} from '../adapters/kysely/access/kysely-usage-log.ts';
import {
  KyselyCustomDomains,
  KyselyDueDomains,
} from '../adapters/kysely/sites/kysely-custom-domains.ts';
import { KyselyDomainShares } from '../adapters/kysely/sites/kysely-domain-shares.ts';
import { KyselyEdgeRecords } from '../adapters/kysely/sites/kysely-edge-records.ts';
import { KyselyIdempotencyKeys } from '../adapters/kysely/access/kysely-idempotency-keys.ts';
import { KyselyJobLeases } from '../adapters/kysely/kysely-job-leases.ts';
import { KyselyMailChoices } from '../adapters/kysely/notifications/kysely-mail-choices.ts';
import { KyselyMails } from '../adapters/kysely/notifications/kysely-mails.ts';
import { KyselyMailRequests } from '../adapters/kysely/access/kysely-mail-requests.ts';
import { KyselyNotices } from '../adapters/kysely/notifications/kysely-notices.ts';
import { KyselyWebhookDeliveries } from '../adapters/kysely/notifications/kysely-webhook-deliveries.ts';
import { KyselyWebhooks } from '../adapters/kysely/notifications/kysely-webhooks.ts';
import { KyselyOrders, KyselyPets } from '../adapters/kysely/kysely-catalogue.ts';
import { KyselyOutbox, KyselyParkedDeliveries } from '../adapters/kysely/kysely-outbox.ts';
import { KyselyRetention } from '../adapters/kysely/kysely-retention.ts';
import { KyselyPeople } from '../adapters/kysely/access/kysely-people.ts';
import { KyselyProjects } from '../adapters/kysely/sites/kysely-projects.ts';
import { KyselySessions, KyselySignInLinks } from '../adapters/kysely/access/kysely-sessions.ts';
import { KyselyTimeline } from '../adapters/kysely/sites/kysely-timeline.ts';
import { Orders, Pets } from '../catalogue/ports.ts';
import { Acting } from '../kernel/acting.ts';
import { Clock } from '../kernel/clock.ts';
import { Deadline } from '../kernel/deadline.ts';
import { Ids } from '../kernel/ids.ts';
import { JobLeases, Outbox, ParkedDeliveries } from '../kernel/queue.ts';
import { Retention } from '../kernel/retention.ts';
import { Sealer } from '../kernel/sealer.ts';
import {
  ProjectSettings,
  Timeline,
  CustomDomains,
  DueDomains,
  EdgeRecords,
  DomainShares,
} from '../domains/ports.ts';
import { MailChoices, Mails, Notices } from '../notifications/ports.ts';
import { WebhookDeliveries, Webhooks } from '../notifications/webhook-ports.ts';
import { Projects } from '../sites/ports.ts';
import {
  AuthorityAccounts,
  AuthorityLedger,
  CertificateOrders,
  Certificates,
  DnsChallenges,
  OwnNames,
} from '../domains/certificate-ports.ts';
import { ConfigKey, LogKey, RedisSignalsKey } from './keys.ts';
import { SiteAddresses } from './site-addresses.ts';
import { retention } from './retention.ts';
import { hiddenTypes, subscribersOf } from './subscriptions.ts';
import { notingEvents, tracerOf } from './tracing.ts';
import { wiring } from './wiring.ts';

/** Tells this process, and the others where there are several. The request that stored it does not wait for its effects. */
const tellingOf = (c: ResolutionContext): StoredListener => {
  const signal = c.get(StoredSignal);
  const deadline = c.get(Deadline);
  const hasFleet = c.get(ConfigKey).redisUrl !== undefined;
  const fleet = hasFleet ? c.get(RedisSignalsKey) : undefined;
  const tell: StoredListener = (accountIds, hasDeliveries) => {
    void deadline.apart(() => {
      signal.raise(accountIds, hasDeliveries);
      fleet?.tell(accountIds);
      return Promise.resolve();
    });
  };
  const tracer = tracerOf(c);
  if (!tracer) return tell;
  return (...news) => {
    tracer.apart(() => {
      tell(...news);
    });
  };
};

export const persistence = wiring((once, bind) => {
  once(Database, (c) => {
    const log = c.get(LogKey);
    const onOutage = {
      onAway: (err: unknown) => {
        log.warn({ err }, 'database away: requests that need it get 503 until it is back');
      },
      onBack: (awayMs: number) => {
        log.info({ seconds: Math.round(awayMs / 1000) }, 'database back');
      },
    };
    const [deadline, tracer] = [c.get(Deadline), tracerOf(c)];
    return new Database(c.get(ConfigKey).databaseUrl, { onOutage, deadline, tracer });
  }).onDeactivation((database) => database.close());
  once(KyselyOutbox, (c) => {
    const [tracer, onStored] = [tracerOf(c), tellingOf(c)];
    const [plainIds, acting] = [c.get(Ids), c.get(Acting)];
    const ids = tracer ? notingEvents(tracer, plainIds) : plainIds;
    return new KyselyOutbox(c.get(Database), { ids, acting, subscribersOf, onStored });
  });
  bind(Outbox).toService(KyselyOutbox);
  once(ParkedDeliveries, (c) => new KyselyParkedDeliveries(c.get(Database)));
  once(Retention, (c) => new KyselyRetention(c.get(Database), retention));
  once(KyselyPets, (c) => new KyselyPets(c.get(Database), c.get(KyselyOutbox)));
  bind(Pets).toService(KyselyPets);
  once(Orders, (c) => new KyselyOrders(c.get(Database), c.get(KyselyOutbox), c.get(KyselyPets)));
  once(KyselyApiKeys, (c) => new KyselyApiKeys(c.get(Database), c.get(KyselyOutbox)));
  bind(ApiKeys).toService(KyselyApiKeys);
  once(KyselyPeople, (c) => new KyselyPeople(c.get(Database), c.get(KyselyOutbox)));
  bind(People).toService(KyselyPeople);
  once(Accounts, (c) => {
    const [apiKeys, people] = [c.get(KyselyApiKeys), c.get(KyselyPeople)];
    return new KyselyAccounts(c.get(Database), c.get(KyselyOutbox), { apiKeys, people });
  });
  once(Sessions, (c) => new KyselySessions(c.get(Database), c.get(KyselyOutbox)));
  once(SignInLinks, (c) => new KyselySignInLinks(c.get(Database), c.get(KyselyOutbox)));
  once(MailRequests, (c) => new KyselyMailRequests(c.get(Database)));
  once(Notices, (c) => new KyselyNotices(c.get(Database)));
  once(Webhooks, (c) => new KyselyWebhooks(c.get(Database), c.get(KyselyOutbox), c.get(Sealer)));
  once(WebhookDeliveries, (c) => {
    const needs = { sealer: c.get(Sealer), ids: c.get(Ids) };
    return new KyselyWebhookDeliveries(c.get(Database), c.get(KyselyOutbox), needs);
  });
  once(Mails, (c) => {
    const tell = tellingOf(c);
    return new KyselyMails(c.get(Database), {
      ...{ sealer: c.get(Sealer), ids: c.get(Ids) },
      onAdded: (accountId) => {
        tell([accountId], true);
      },
    });
  });
  once(MailChoices, (c) => new KyselyMailChoices(c.get(Database)));
  once(AuditLog, (c) => new KyselyAuditLog(c.get(Database), hiddenTypes));
  once(IdempotencyKeys, (c) => new KyselyIdempotencyKeys(c.get(Database)));
  once(CounterSnapshots, (c) => new KyselyCounterSnapshots(c.get(Database)));
  once(UsageLog, (c) => new KyselyUsageLog(c.get(Database)));
  once(Projects, (c) => new KyselyProjects(c.get(Database), c.get(KyselyOutbox)));
  once(EdgeRecords, (c) => new KyselyEdgeRecords(c.get(Database), c.get(Sealer)));
  once(Certificates, (c) => new KyselyCertificates(c.get(Database), c.get(Sealer)));
  once(
    CustomDomains,
    (c) =>
      new KyselyCustomDomains(c.get(Database), c.get(KyselyOutbox), {
        ...{ sealer: c.get(Sealer), ids: c.get(Ids), clock: c.get(Clock) },
      }),
  );
  once(DueDomains, (c) => new KyselyDueDomains(c.get(Database), c.get(Ids)));
  once(
    ProjectSettings,
    (c) => new KyselyProjectSettings(c.get(Database), c.get(KyselyOutbox), c.get(Clock)),
  );
  once(CertificateOrders, (c) => new KyselyCertificateOrders(c.get(Database), c.get(Sealer)));
  once(DomainShares, (c) => new KyselyDomainShares(c.get(Database), c.get(KyselyOutbox)));
  once(OwnNames, (c) => new KyselyOwnNames(c.get(Database), c.get(Sealer)));
  once(DnsChallenges, (c) => new KyselyDnsChallenges(c.get(Database)));
  once(JobLeases, (c) => new KyselyJobLeases(c.get(Database)));
  once(AuthorityLedger, (c) => new KyselyAuthorityLedger(c.get(Database)));
  once(AuthorityAccounts, (c) => new KyselyAuthorityAccounts(c.get(Database), c.get(Sealer)));
  once(SiteAddresses, (c) => new SiteAddresses(new EdgePort(c.get(Database)), c.get(ConfigKey)));
  once(Timeline, (c) => new KyselyTimeline(c.get(Database)));
});
