import { access, type Access } from '../../src/access/access.ts';
import type { AccessPorts } from '../../src/access/ports.ts';
import { CountingIds } from '../../src/adapters/memory/counting-ids.ts';
import { CountingKeyMaterial } from '../../src/adapters/memory/counting-key-material.ts';
import { SettableClock } from '../../src/adapters/memory/settable-clock.ts';
import type { DomainEvent } from '../../src/kernel/domain-event.ts';
import { memoryPorts } from './memory-ports.ts';

export interface MemoryAccess {
  readonly face: Access;
  readonly ports: AccessPorts;
  readonly clock: SettableClock;
  readonly happened: () => readonly DomainEvent[];
}

/** The face of the access context over memory, with a clock that stands still. */
export const memoryAccess = (now: Date, stubs: Partial<AccessPorts> = {}): MemoryAccess => {
  const { outbox, accounts, apiKeys, counters, usage } = memoryPorts();
  const clock = new SettableClock(now);
  const machine = { keyMaterial: new CountingKeyMaterial(), clock, ids: new CountingIds() };
  const ports = { accounts, apiKeys, counters, usage, ...machine, ...stubs };
  return { face: access(ports), ports, clock, happened: () => outbox.events };
};
