import { CountingIds } from '../../src/adapters/memory/counting-ids.ts';
import { MemoryAccounts } from '../../src/adapters/memory/memory-accounts.ts';
import { MemoryAuditLog } from '../../src/adapters/memory/memory-audit-log.ts';
import { MemoryAuthorityAccounts } from '../../src/adapters/memory/memory-authority-accounts.ts';
import { MemoryAuthorityLedger } from '../../src/adapters/memory/memory-authority-ledger.ts';
import { MemoryCertificateOrders } from '../../src/adapters/memory/memory-certificate-orders.ts';
import { MemoryCertificates } from '../../src/adapters/memory/memory-certificates.ts';
import { MemoryCounterSnapshots } from '../../src/adapters/memory/memory-counter-snapshots.ts';
import { MemoryCustomDomains } from '../../src/adapters/memory/memory-custom-domains.ts';
import { MemoryEdgeRecords } from '../../src/adapters/memory/memory-edge-records.ts';
import { MemoryIdempotencyKeys } from '../../src/adapters/memory/memory-idempotency-keys.ts';
import { MemoryJobLeases } from '../../src/adapters/memory/memory-job-leases.ts';
import { MemoryOrders } from '../../src/adapters/memory/memory-orders.ts';
import { MemoryOutbox } from '../../src/adapters/memory/memory-outbox.ts';
import { MemoryPets } from '../../src/adapters/memory/memory-pets.ts';
import { MemoryProjectRoutes } from '../../src/adapters/memory/memory-project-routes.ts';
import { MemoryProjectSettings } from '../../src/adapters/memory/memory-project-settings.ts';
import { MemoryProjects } from '../../src/adapters/memory/memory-projects.ts';
import { MemoryQuotaCounters } from '../../src/adapters/memory/memory-quota-counters.ts';
import { MemoryTimeline } from '../../src/adapters/memory/memory-timeline.ts';
import { MemoryUsageLog } from '../../src/adapters/memory/memory-usage-log.ts';
import { SettableClock } from '../../src/adapters/memory/settable-clock.ts';
import { AsyncActing } from '../../src/adapters/system/async-acting.ts';
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
  return {
    acting,
    outbox,
    pets,
    orders: new MemoryOrders(outbox, pets),
    accounts,
    apiKeys: accounts.apiKeys,
    people: accounts.people,
    sessions: accounts.people.sessions,
    signInLinks: accounts.people.signInLinks,
    counters: new MemoryQuotaCounters(),
    counterSnapshots: new MemoryCounterSnapshots(),
    usage: new MemoryUsageLog(accounts.apiKeys),
    auditLog: new MemoryAuditLog(),
    idempotencyKeys: new MemoryIdempotencyKeys(),
    projects: new MemoryProjects(outbox, routes, accountExists),
    edgeRecords,
    certificates: new MemoryCertificates(edgeRecords),
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
  };
};

const writerOf = (edgeRecords: MemoryEdgeRecords): EdgeWriter => ({
  setRoute: (route) => Promise.resolve().then(() => edgeRecords.setRoute(route)),
  removeRoute: (name, at) => Promise.resolve().then(() => edgeRecords.removeRoute(name, at)),
  removeCertificate: (host, at) =>
    Promise.resolve().then(() => edgeRecords.removeCertificate(host, at)),
});
