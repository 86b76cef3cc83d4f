import { CountingIds } from '../../src/adapters/memory/counting-ids.ts';
import { MemoryAccounts } from '../../src/adapters/memory/memory-accounts.ts';
import { MemoryAuditLog } from '../../src/adapters/memory/memory-audit-log.ts';
import { MemoryCertificates } from '../../src/adapters/memory/memory-certificates.ts';
import { MemoryCounterSnapshots } from '../../src/adapters/memory/memory-counter-snapshots.ts';
import { MemoryEdgeRecords } from '../../src/adapters/memory/memory-edge-records.ts';
import { MemoryIdempotencyKeys } from '../../src/adapters/memory/memory-idempotency-keys.ts';
import { MemoryOrders } from '../../src/adapters/memory/memory-orders.ts';
import { MemoryOutbox } from '../../src/adapters/memory/memory-outbox.ts';
import { MemoryPets } from '../../src/adapters/memory/memory-pets.ts';
import { MemoryProjects } from '../../src/adapters/memory/memory-projects.ts';
import { MemoryQuotaCounters } from '../../src/adapters/memory/memory-quota-counters.ts';
import { MemoryUsageLog } from '../../src/adapters/memory/memory-usage-log.ts';
import type { EdgeWriter } from './storage-ports.ts';

/** Every port that keeps something, in memory. `outbox.events` tells what happened. */
export const memoryPorts = (
  subscribersOf: (type: string) => readonly string[] = () => ['witness'],
) => {
  const outbox = new MemoryOutbox(new CountingIds(), subscribersOf);
  const pets = new MemoryPets(outbox);
  const accounts = new MemoryAccounts(outbox);
  const accountExists = async (id: string) => (await accounts.find(id)) !== undefined;
  const edgeRecords = new MemoryEdgeRecords();
  return {
    outbox,
    pets,
    orders: new MemoryOrders(outbox, pets),
    accounts,
    apiKeys: accounts.apiKeys,
    counters: new MemoryQuotaCounters(),
    counterSnapshots: new MemoryCounterSnapshots(),
    usage: new MemoryUsageLog(accounts.apiKeys),
    auditLog: new MemoryAuditLog(),
    idempotencyKeys: new MemoryIdempotencyKeys(),
    projects: new MemoryProjects(outbox, edgeRecords, accountExists),
    edgeRecords,
    certificates: new MemoryCertificates(edgeRecords),
    edgeWriter: writerOf(edgeRecords),
  };
};

const writerOf = (edgeRecords: MemoryEdgeRecords): EdgeWriter => ({
  setRoute: (route) => Promise.resolve().then(() => edgeRecords.setRoute(route)),
  removeRoute: (name, at) => Promise.resolve().then(() => edgeRecords.removeRoute(name, at)),
  removeCertificate: (host, at) =>
    Promise.resolve().then(() => edgeRecords.removeCertificate(host, at)),
});
