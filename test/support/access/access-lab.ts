import { access, type Access } from '../../../src/access/access.ts';
import { PersonalMails, type PersonalMail } from '../../../src/access/people-ports.ts';
import type { AccessPorts } from '../../../src/access/ports.ts';
import { MemoryQuotaCounters } from '../../../src/adapters/memory/memory-quota-counters.ts';
import type { DomainEvent, StoredEvent } from '../../../src/kernel/domain-event.ts';
import { CountingIds } from '../counting-ids.ts';
import { CountingKeyMaterial } from '../counting-key-material.ts';
import { PlainPasswords } from '../plain-passwords.ts';
import { SettableClock } from '../settable-clock.ts';
import { testSealer } from '../stores.ts';
import { storesOfTests } from '../stores-of-tests.ts';

export interface AccessLab {
  readonly face: Access;
  readonly ports: AccessPorts;
  readonly clock: SettableClock;
  /** Mails to people, oldest first. */
  readonly mailed: () => readonly PersonalMail[];
  readonly happened: () => Promise<readonly DomainEvent[]>;
  /** Events in the outbox, with their actors. */
  readonly stored: () => Promise<readonly StoredEvent[]>;
}

/** To be called at the top of a test file. @returns gives the access context over its stores, with a stopped clock */
export const accessLabs = () => {
  const open = storesOfTests();
  return async (now: Date, stubs: Partial<AccessPorts> = {}): Promise<AccessLab> => {
    const stores = await open();
    const { acting, accounts, apiKeys, usage, people, sessions, signInLinks, mailRequests } =
      stores;
    const personalMails = new RecordedMails();
    const clock = new SettableClock(now);
    const ports = {
      ...{ accounts, apiKeys, usage, people, sessions, signInLinks, mailRequests, personalMails },
      ...{ acting, clock, ids: new CountingIds(), counters: new MemoryQuotaCounters() },
      keyMaterial: new CountingKeyMaterial(),
      passwords: new PlainPasswords(),
      sealer: testSealer,
      highUses: { note: () => undefined },
      endings: [{ operation: 'getPet', removedAt: new Date('2030-12-05T00:00:00Z') }],
      ...stubs,
    };
    return {
      face: access(ports),
      ports,
      clock,
      mailed: () => personalMails.all,
      happened: () => stores.events(),
      stored: async () => {
        const deliveries = await stores.outbox.claim(now, now, { limit: 1000 });
        return deliveries.map((delivery) => delivery.stored);
      },
    };
  };
};

class RecordedMails extends PersonalMails {
  readonly #mails = new Map<string, PersonalMail>();

  get all(): readonly PersonalMail[] {
    return [...this.#mails.values()];
  }

  override add(mail: PersonalMail): Promise<void> {
    if (!this.#mails.has(mail.id)) this.#mails.set(mail.id, mail);
    return Promise.resolve();
  }
}
