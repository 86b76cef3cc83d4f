import { access, type Access } from '../../../src/access/access.ts';
import type { PersonalMail } from '../../../src/access/mail-ports.ts';
import type { AccessPorts } from '../../../src/access/ports.ts';
import { CountingIds } from '../../memory/counting-ids.ts';
import { CountingKeyMaterial } from '../../memory/counting-key-material.ts';
import { MemoryPersonalMails } from '../../memory/memory-personal-mails.ts';
import { PlainPasswords } from '../../memory/plain-passwords.ts';
import { SettableClock } from '../../memory/settable-clock.ts';
import { AesGcmSealer } from '../../../src/adapters/system/aes-gcm-sealer.ts';
import type { DomainEvent, StoredEvent } from '../../../src/kernel/domain-event.ts';
import { memoryPorts } from '../memory-ports.ts';

export interface MemoryAccess {
  readonly face: Access;
  readonly ports: AccessPorts;
  readonly clock: SettableClock;
  /** Mails to people, oldest first. */
  readonly mailed: () => readonly PersonalMail[];
  readonly happened: () => readonly DomainEvent[];
  /** Events in the outbox, with their actors. */
  readonly stored: () => Promise<readonly StoredEvent[]>;
}

/** The public interface of the access context over memory, with a stopped clock. */
export const memoryAccess = (now: Date, stubs: Partial<AccessPorts> = {}): MemoryAccess => {
  const { outbox, acting, accounts, apiKeys, counters, usage, people, sessions, ...others } =
    memoryPorts();
  const { signInLinks, mailRequests } = others;
  const personalMails = new MemoryPersonalMails();
  const clock = new SettableClock(now);
  const ids = new CountingIds();
  const passwords = new PlainPasswords();
  const sealer = new AesGcmSealer(Buffer.from('a secret key that everybody knows'));
  const machine = { sealer, keyMaterial: new CountingKeyMaterial(), passwords, acting, clock, ids };
  const kept = {
    accounts,
    apiKeys,
    counters,
    usage,
    people,
    sessions,
    signInLinks,
    mailRequests,
    personalMails,
  };
  const highUses = { note: () => undefined };
  const deprecatedOperations = ['getPet'];
  const ports = { ...kept, ...machine, highUses, deprecatedOperations, ...stubs };
  const stored = async () => {
    const deliveries = await outbox.claim(now, now, 1000);
    return deliveries.map((delivery) => delivery.stored);
  };
  return {
    face: access(ports),
    ports,
    clock,
    mailed: () => personalMails.all,
    happened: () => outbox.events,
    stored,
  };
};
