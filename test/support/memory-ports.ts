import { CountingIds } from './counting-ids.ts';
import { MemoryAccounts } from '../memory/memory-accounts.ts';
import { MemoryAuditLog } from '../memory/memory-audit-log.ts';
import { MemoryAuthorityAccounts } from '../memory/memory-authority-accounts.ts';
import { MemoryAuthorityLedger } from '../memory/memory-authority-ledger.ts';
import { MemoryCertificateOrders } from '../memory/memory-certificate-orders.ts';
import { MemoryCertificates } from '../memory/memory-certificates.ts';
import { MemoryCounterSnapshots } from '../memory/memory-counter-snapshots.ts';
import { MemoryDomainShares } from '../memory/memory-domain-shares.ts';
import { MemoryCustomDomains } from '../memory/memory-custom-domains.ts';
import { MemoryEdgeRecords } from '../memory/memory-edge-records.ts';
import { MemoryIdempotencyKeys } from '../memory/memory-idempotency-keys.ts';
import { MemoryJobLeases } from '../memory/memory-job-leases.ts';
import { MemoryMailChoices } from '../memory/memory-mail-choices.ts';
import { MemoryMails } from '../memory/memory-mails.ts';
import { MemoryMailRequests } from '../memory/memory-mail-requests.ts';
import { MemoryNotices } from '../memory/memory-notices.ts';
import { MemoryOrders } from '../memory/memory-orders.ts';
import { MemoryOutbox } from '../memory/memory-outbox.ts';
import { MemoryOwnNames } from '../memory/memory-own-names.ts';
import { MemoryPets } from '../memory/memory-pets.ts';
import { MemoryProjectRoutes } from '../memory/memory-project-routes.ts';
import { MemoryProjectSettings } from '../memory/memory-project-settings.ts';
import { MemoryProjects } from '../memory/memory-projects.ts';
import { MemoryQuotaCounters } from '../../src/adapters/memory/memory-quota-counters.ts';
import { MemoryRetention } from '../memory/memory-retention.ts';
import { MemoryTimeline } from '../memory/memory-timeline.ts';
import { MemoryUsageLog } from '../memory/memory-usage-log.ts';
import { MemoryWatches } from '../memory/memory-watches.ts';
import { MemoryWebhookDeliveries } from '../memory/memory-webhook-deliveries.ts';
import { MemoryWebhooks } from '../memory/memory-webhooks.ts';
import { SettableClock } from './settable-clock.ts';
import { AsyncActing } from '../../src/adapters/system/async-acting.ts';
import { hiddenTypes } from '../../src/app/subscriptions.ts';
import { now } from './accounts.ts';
import type { EdgeWriter } from './storage-ports.ts';

/** Every storage port, in memory. `outbox.events` lists what happened. */
export const memoryPorts = (
  subscribersOf: (type: string) => readonly string[] = () => ['witness'],
) => {
  const acting = new AsyncActing('service');
  const outbox = new MemoryOutbox(new CountingIds(), subscribersOf, acting);
  const pets = new MemoryPets(outbox);
  const accounts = new MemoryAccounts(outbox);
  const accountExists = async (id: string) => (await accounts.find(id)) !== undefined;
  const edgeRecords = new MemoryEdgeRecords();
  const routes = new MemoryProjectRoutes(edgeRecords);
  const ledger = new MemoryAuthorityLedger();
  const certificateOrders = new MemoryCertificateOrders(ledger);
  const timeline = new MemoryTimeline();
  const around = { outbox, routes, ledger };
  const counterSnapshots = new MemoryCounterSnapshots();
  const usage = new MemoryUsageLog(accounts.apiKeys);
  const idempotencyKeys = new MemoryIdempotencyKeys();
  const notices = new MemoryNotices(accounts);
  const mails = new MemoryMails(accounts.people);
  const mailChoices = new MemoryMailChoices(accounts.people);
  const webhooks = new MemoryWebhooks(outbox, accountExists);
  const webhookDeliveries = new MemoryWebhookDeliveries({
    ...{ webhooks, outbox, accountExists, ids: new CountingIds() },
  });
  const mailRequests = new MemoryMailRequests();
  const { sessions, signInLinks } = accounts.people;
  const domainShares = new MemoryDomainShares(outbox, (id) => domains.current(id));
  const domains: MemoryCustomDomains = new MemoryCustomDomains({
    ...around,
    shares: domainShares,
    orders: certificateOrders,
    edgeRecords,
    timeline,
    clock: new SettableClock(now),
  });
  return {
    acting,
    outbox,
    parkedDeliveries: outbox,
    pets,
    orders: new MemoryOrders(outbox, pets),
    accounts,
    apiKeys: accounts.apiKeys,
    people: accounts.people,
    sessions,
    signInLinks,
    mailRequests,
    counters: new MemoryQuotaCounters(),
    counterSnapshots,
    usage,
    auditLog: new MemoryAuditLog(outbox, hiddenTypes),
    idempotencyKeys,
    projects: new MemoryProjects(outbox, routes, accountExists),
    edgeRecords,
    certificates: new MemoryCertificates(edgeRecords, certificateOrders),
    edgeWriter: writerOf(edgeRecords),
    domains,
    shares: domainShares,
    settings: new MemoryProjectSettings(outbox, routes, new SettableClock(now)),
    timeline,
    certificateOrders,
    dnsChallenges: certificateOrders.dnsChallenges,
    ownNames: new MemoryOwnNames({ ledger, edgeRecords, orders: certificateOrders }),
    ledger,
    jobLeases: new MemoryJobLeases(),
    authorityAccounts: new MemoryAuthorityAccounts(),
    notices,
    mails,
    mailChoices,
    watches: new MemoryWatches(outbox),
    webhooks,
    webhookDeliveries,
    retention: new MemoryRetention({
      sessions: (before) => sessions.sweep(before),
      sign_in_links: (before) => signInLinks.sweep(before),
      quota_counters: (before) => counterSnapshots.sweep(before),
      usage_hours: (before) => usage.sweep(before),
      idempotency_keys: (before) => idempotencyKeys.sweep(before),
      routes: (before) => edgeRecords.sweepRoutes(before),
      certificates: (before) => edgeRecords.sweepCertificates(before),
      domain_timeline: (before) => timeline.sweep(before),
      authority_ledger: (before) => ledger.sweep(before),
      domain_shares: (before) => domainShares.sweep(before),
      dns_challenges: (before) => certificateOrders.dnsChallenges.sweep(before),
      mails: (before) => mails.sweep(before),
      mail_choices: () => mailChoices.sweep(),
      mail_troubles: (before) => mails.sweepTroubles(before),
      mail_requests: (before) => mailRequests.sweep(before),
      notices: (before) => notices.sweep(before),
      webhook_deliveries: (before) => webhookDeliveries.sweepDeliveries(before),
      webhook_attempts: (before) => webhookDeliveries.sweepAttempts(before),
      events: (before) => outbox.sweep(hiddenTypes, before),
    }),
  };
};

const writerOf = (edgeRecords: MemoryEdgeRecords): EdgeWriter => ({
  setRoute: (route) => Promise.resolve().then(() => edgeRecords.setRoute(route)),
  removeRoute: (name, at) => Promise.resolve().then(() => edgeRecords.removeRoute(name, at)),
  removeCertificate: (host, at) =>
    Promise.resolve().then(() => edgeRecords.removeCertificate(host, at)),
});
