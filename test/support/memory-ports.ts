import { CountingIds } from '../memory/counting-ids.ts';
import { MemoryAccounts } from '../memory/memory-accounts.ts';
import { MemoryAuditLog } from '../memory/memory-audit-log.ts';
import { MemoryAuthorityAccounts } from '../memory/memory-authority-accounts.ts';
import { MemoryAuthorityLedger } from '../memory/memory-authority-ledger.ts';
import { MemoryCertificateOrders } from '../memory/memory-certificate-orders.ts';
import { MemoryCertificates } from '../memory/memory-certificates.ts';
import { MemoryCounterSnapshots } from '../memory/memory-counter-snapshots.ts';
import { MemoryCustomDomains } from '../memory/memory-custom-domains.ts';
import { MemoryEdgeRecords } from '../memory/memory-edge-records.ts';
import { MemoryIdempotencyKeys } from '../memory/memory-idempotency-keys.ts';
import { MemoryJobLeases } from '../memory/memory-job-leases.ts';
import { MemoryOrders } from '../memory/memory-orders.ts';
import { MemoryOutbox } from '../memory/memory-outbox.ts';
import { MemoryPets } from '../memory/memory-pets.ts';
import { MemoryProjectRoutes } from '../memory/memory-project-routes.ts';
import { MemoryProjectSettings } from '../memory/memory-project-settings.ts';
import { MemoryProjects } from '../memory/memory-projects.ts';
import { MemoryQuotaCounters } from '../../src/adapters/memory/memory-quota-counters.ts';
import { MemoryRetention } from '../memory/memory-retention.ts';
import { MemoryTimeline } from '../memory/memory-timeline.ts';
import { MemoryUsageLog } from '../memory/memory-usage-log.ts';
import { SettableClock } from '../memory/settable-clock.ts';
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
  const { sessions, signInLinks } = accounts.people;
  return {
    acting,
    outbox,
    pets,
    orders: new MemoryOrders(outbox, pets),
    accounts,
    apiKeys: accounts.apiKeys,
    people: accounts.people,
    sessions,
    signInLinks,
    counters: new MemoryQuotaCounters(),
    counterSnapshots,
    usage,
    auditLog: new MemoryAuditLog(outbox, hiddenTypes),
    idempotencyKeys,
    projects: new MemoryProjects(outbox, routes, accountExists),
    edgeRecords,
    certificates: new MemoryCertificates(edgeRecords, certificateOrders),
    edgeWriter: writerOf(edgeRecords),
    domains: new MemoryCustomDomains({
      ...around,
      orders: certificateOrders,
      edgeRecords,
      timeline,
      clock: new SettableClock(now),
    }),
    settings: new MemoryProjectSettings(outbox, routes, new SettableClock(now)),
    timeline,
    certificateOrders,
    ledger,
    jobLeases: new MemoryJobLeases(),
    authorityAccounts: new MemoryAuthorityAccounts(),
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
