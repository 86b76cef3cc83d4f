import { CountingIds, SettableClock } from '../settable-clock.ts';
import { ScriptedAuthority } from './scripted-authority.ts';
import { ScriptedDns } from './scripted-dns.ts';
import type { CustomDomain } from '../../../src/domains/domain/attachment/custom-domain.ts';
import type { ResolverFacts } from '../../../src/domains/domain/dns/facts.ts';
import type { CertificateAuthority } from '../../../src/domains/certificate-ports.ts';
import type { DomainPorts } from '../../../src/domains/ports.ts';
import { addCustomDomain } from '../../../src/domains/use-cases/add-domain.ts';
import { domains } from '../../../src/domains/domains.ts';
import { tendDomain, verifyDomain } from '../../../src/domains/use-cases/tend-domain.ts';
import { servedProject } from './custom-domains.ts';
import { cname, facts, records } from './known-dns.ts';
import { allowance, start } from './known-domains.ts';
import { openStores, type Stores } from '../stores.ts';

export const host = 'shop.example.com';

const opened: Stores[] = [];
export const closeLabs = async (): Promise<void> => {
  for (const stores of opened.splice(0)) await stores.close();
};

/**
 * A served project and everything that custom domains need, over real stores on a private SQLite file, with a stopped
 * clock. `closeLabs` closes it.
 * @param acmeDnsZone the zone of DNS challenges; by default there is none
 */
export const domainLab = async (acmeDnsZone?: string) => {
  const clock = new SettableClock(start);
  const stores = await openStores('sqlite', { clock });
  opened.push(stores);
  const { certificateOrders: orders, dnsChallenges } = stores;
  const delegations = new Map<string, string>();
  const textsOf = async (name: string): Promise<readonly string[]> => {
    const label = delegations.get(name) ?? '';
    return (await dnsChallenges.valuesFor([label], clock.now())).get(label) ?? [];
  };
  let secrets = 0;
  const authority = new ScriptedAuthority({
    clock,
    expects: (name) => name.endsWith('.com') || name.endsWith('.sites.test'),
    visit: (name, token) => orders.answer(name, token),
    texts: textsOf,
  });
  const dns = new ScriptedDns(clock);
  const secondAuthority: CertificateAuthority | undefined = undefined;
  const ports = {
    ...stores,
    orders,
    clock,
    authority,
    secondAuthority,
    dns,
    allowances: { of: () => Promise.resolve(allowance) },
    accountOf: (slug: string) => stores.projects.accountOf(slug),
    hostNames: plainNames,
    naming: { platformHost: 'sites.test', allowTestDomains: false, acmeDnsZone },
    hasPlatformFiles: false,
    platformAddresses: ['192.0.2.10', '2001:db8::10'],
    ids: new CountingIds(),
    linkSecrets: { next: () => `secret-${(secrets += 1)}`, hash: (secret) => `hash of ${secret}` },
    chance: () => 0.5,
    pause: () => Promise.resolve(),
  } satisfies DomainPorts;
  const project = await servedProject(stores);

  const tendDue = async (changed: Partial<DomainPorts> = {}): Promise<void> => {
    const tend = tendDomain({ ...ports, ...changed });
    const due = await stores.dueDomains.claim(clock.now(), clock.now(), { limit: 100 });
    for (const { domain } of due) await tend(domain);
  };

  /** Creates the records that a domain requires. */
  const point = ({ host: name, token }: CustomDomain, more: Partial<ResolverFacts> = {}): void =>
    dns.tell(name, facts({ ...cname(`${token}.sites.test`), ...more }));

  /** Creates the delegation for DNS challenges along with the other records. */
  const delegate = (
    domain: CustomDomain,
    more: Partial<ResolverFacts> = {},
    { token }: CustomDomain = domain,
  ): void => {
    delegations.set(domain.host, token);
    point(domain, { delegation: records(`${token}.${acmeDnsZone ?? ''}`), ...more });
  };

  const add = (to = project, name = host) => addCustomDomain(ports)(to, name);
  const current = async ({ id }: CustomDomain): Promise<CustomDomain> =>
    (await ports.domains.get(id))!;

  return {
    ports,
    stores,
    project,
    clock,
    authority,
    dns,
    tendDue,
    point,
    delegate,
    add,
    current,
    /** Pretends that the platform's delegation exists. Its DNS facts are set separately. */
    delegatePlatform: () => delegations.set('*.sites.test', 'platform'),
    platformTexts: () => textsOf('*.sites.test'),
    verify: async (domain: CustomDomain) => verifyDomain(ports)(await current(domain)),
    remove: async (domain: CustomDomain) => domains(ports).removeDomain(await current(domain)),
    addVerified: async (): Promise<CustomDomain> => {
      const domain = await add();
      point(domain);
      return verifyDomain(ports)(domain);
    },
    addLive: async (name?: string): Promise<CustomDomain> => {
      const domain = await add(project, name);
      point(domain);
      await verifyDomain(ports)(domain);
      await tendDue();
      return current(domain);
    },
    asked: (step: string) => authority.log.filter((one) => one.startsWith(`${step} `)).length,
    kinds: async ({ id }: CustomDomain) =>
      (await ports.timeline.list(id, 100)).map(({ kind }) => kind).toReversed(),
    attempts: async ({ id }: CustomDomain) =>
      (await ports.timeline.list(id, 100))
        .filter(({ kind }) => kind === 'attempt')
        .map(({ details }) => details['outcome'])
        .toReversed(),
    keptOrders: async ({ id }: CustomDomain): Promise<readonly number[]> => {
      const generations = [0, 1, 2, 3, 4, 5];
      const found = generations.map((one) => orders.find(`domain:${id}:${one}`));
      return (await Promise.all(found)).flatMap((one, generation) => (one ? [generation] : []));
    },
  };
};

/** Knows only suffixes of one label and the letters of DNS. */
const plainNames: DomainPorts['hostNames'] = {
  read: (name) => ({
    ascii: name,
    unicode: name,
    registrableDomain: name.split('.').slice(-2).join('.'),
    isPublicSuffix: !name.includes('.'),
    isSuffixKnown: true,
    isIp: false,
  }),
};

export type DomainLab = Awaited<ReturnType<typeof domainLab>>;

export const ownershipOf = ({ token }: CustomDomain): Partial<ResolverFacts> => ({
  txt: records(`animal-store-verify=${token}`),
});

export const forbiddingCaa: Partial<ResolverFacts> = {
  caa: [
    {
      name: 'example.com',
      answer: records({ flags: 0, tag: 'issue', value: 'other.test' }),
    },
  ],
};

/** Calls a function before or after each use of a port's method. */
export const around = <Port extends object>(
  port: Port,
  method: keyof Port & string,
  { before, after }: { before?: () => unknown; after?: () => unknown },
): Port =>
  new Proxy(port, {
    get: (target, property) => {
      const value: unknown = Reflect.get(target, property);
      if (typeof value !== 'function') return value;
      if (property !== method) return value.bind(target) as unknown;
      return async (...given: readonly unknown[]) => {
        await before?.();
        const answer: unknown = await (value.apply(target, given) as unknown);
        await after?.();
        return answer;
      };
    },
  });
