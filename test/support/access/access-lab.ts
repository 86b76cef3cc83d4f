import { base62 } from '../../../src/access/domain/api-key.ts';
import { KeyMaterial, type AccessPorts, type ApiKeys } from '../../../src/access/ports.ts';
import { access, type Access } from '../../../src/access/access.ts';
import { PersonalMails, type PersonalMail } from '../../../src/access/people-ports.ts';
import { WebAuthnPasskeys } from '../../../src/adapters/passkeys/web-authn-passkeys.ts';
import { timeCode } from '../../../src/adapters/system/system-ports.ts';
import { MemoryQuotaCounters } from '../../../src/adapters/memory/memory-quota-counters.ts';
import type { DomainEvent, StoredEvent } from '../../../src/kernel/decision.ts';
import { CountingIds, SettableClock } from '../settable-clock.ts';
import { PlainPasswords } from '../plain-passwords.ts';
import { testSealer } from '../stores.ts';
import { storesOfTests } from '../stores-of-tests.ts';
import type { Caller } from '../../../src/access/use-cases/callers.ts';

/** Predictable secrets, each different. Its "hashes" only differ for different texts. */
export class CountingKeyMaterial extends KeyMaterial {
  #state = 1;
  readonly #digests = new Map<string, string>();

  override randomBase62(length: number): string {
    return Array.from({ length }, () => {
      this.#state = (this.#state * 48271) % 2147483647;
      return base62.charAt(this.#state % base62.length);
    }).join('');
  }

  override randomBase32(): string {
    return this.randomBase62(64)
      .replace(/[^A-Z]/g, '')
      .padEnd(32, 'A')
      .slice(0, 32);
  }

  override timeCode(secret: string, step: number): string {
    return timeCode(secret, step);
  }

  override sha256(text: string): string {
    const known = this.#digests.get(text);
    if (known) return known;
    const digest = (this.#digests.size + 1).toString(16).padStart(64, '0');
    this.#digests.set(text, digest);
    return digest;
  }
}

export interface AccessLab {
  readonly face: Access;
  readonly ports: AccessPorts;
  readonly clock: SettableClock;
  readonly mailed: () => readonly PersonalMail[];
  readonly happened: () => Promise<readonly DomainEvent[]>;
  readonly stored: () => Promise<readonly StoredEvent[]>;
}

/**
 * Must be called at the top of a test file.
 * @returns a function that opens the access context over real stores, with a stopped clock
 */
export const accessLabs = () => {
  const open = storesOfTests();
  return async (now: Date, stubs: Partial<AccessPorts> = {}): Promise<AccessLab> => {
    const stores = await open();
    const { acting, accounts, apiKeys, usage, people, sessions, signInLinks, mailRequests } =
      stores;
    const { secondFactors } = stores;
    const personalMails = new RecordedMails();
    const clock = new SettableClock(now);
    const ports = {
      accounts,
      apiKeys,
      usage,
      people,
      sessions,
      signInLinks,
      mailRequests,
      personalMails,
      secondFactors,
      passkeys: new WebAuthnPasskeys('https://shop.example'),
      acting,
      clock,
      ids: new CountingIds(),
      counters: new MemoryQuotaCounters(),
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

export const fewRequests = { perMinute: 2, perDay: 6 };

export interface MeteredAccount extends Pick<AccessLab, 'face' | 'clock'> {
  readonly accountId: string;
  readonly apiKeys: ApiKeys;
  readonly caller: (number?: number) => Promise<Caller>;
  readonly call: (number?: number) => ReturnType<AccessLab['face']['meterCaller']>;
  readonly callMany: (times: number, number?: number) => Promise<readonly string[]>;
  readonly bans: () => Promise<readonly DomainEvent[]>;
}

/**
 * Must be called at the top of a test file.
 * @returns a function that opens an account with `fewRequests` and two keys, which call by their numbers 0 and 1
 */
export const meteredAccounts = () => {
  const accessLab = accessLabs();
  return async (now: Date): Promise<MeteredAccount> => {
    const { face, ports, clock, happened } = await accessLab(now);
    const draft = { name: 'Zoo', email: 'owner@zoo.example', plan: 'enterprise' } as const;
    const { account, key } = await face.createAccount(draft);
    const { id: accountId } = account;
    await face.setPlan(accountId, 'enterprise', { requests: fewRequests });
    const till = await face.createApiKey({ accountId, name: 'Till' });
    const secrets = [key.secret, till.secret];

    const caller = (number = 0) => face.authenticate(secrets[number] ?? '');
    const call = async (number = 0) => face.meterCaller(await caller(number));
    const callMany = async (times: number, number = 0) => {
      const kinds = [];
      for (let n = 0; n < times; n++) kinds.push((await call(number)).kind);
      return kinds;
    };
    const bans = async () => (await happened()).filter(({ type }) => type === 'api_key_banned');
    return { face, clock, accountId, apiKeys: ports.apiKeys, caller, call, callMany, bans };
  };
};
