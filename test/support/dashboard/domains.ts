import type { CustomDomain } from '../../../src/domains/domain/attachment/custom-domain.ts';
import type { ResolverFacts } from '../../../src/domains/domain/dns/facts.ts';
import type { Project } from '../../../src/sites/domain/project.ts';
import { DomainsKey } from '../../../src/app/keys.ts';
import { facts, records } from '../domains/known-dns.ts';
import type { RunningDashboard } from './running-dashboard.ts';

const platformHost = 'sites.animal-store.test';

/** Creates the records in DNS that the owner was asked for. */
export const pointAtUs = (
  { dns }: Pick<RunningDashboard, 'dns'>,
  { host, token, registrableDomain }: CustomDomain,
  more: Partial<ResolverFacts> = {},
): void => {
  const target = `${token}.${platformHost}`;
  const route = {
    cname: records(target),
    chain: { names: [target], end: 'reached' as const },
    a: records('127.0.0.1'),
    zone: { name: registrableDomain, nameServers: ['ada.ns.cloudflare.com'] },
  };
  dns.tell(host, facts({ ...route, ...more }));
};

/**
 * A domain in each state, with and without problems, and redirects between them.
 * @param zone where they lie, so that two accounts may have some of their own
 */
export const fillDomains = async (
  dashboard: RunningDashboard,
  project: Project,
  zone: string,
): Promise<void> => {
  const domains = dashboard.container.get(DomainsKey);
  const add = (name: string) => domains.addDomain(project, `${name}${zone}`);
  const verified = async (domain: CustomDomain) => {
    pointAtUs(dashboard, domain);
    return domains.verifyDomain(domain);
  };
  const live = async (name: string) => domains.tendDomain(await verified(await add(name)));

  await live('www.');
  await live('shop.');
  await domains.makeShare(await verified(await add('soon.')));
  const wrong = await add('wrong.');
  dashboard.dns.tell(wrong.host, facts({ cname: records('elsewhere.test'), a: hostileAddress }), {
    '192.0.2.2': facts({ txt: records('"><img src=x onerror=alert(1)>') }),
  });
  await domains.verifyDomain(wrong);
  await add('');
  await domains.removeDomain(await add('gone.'));
  await domains.changeDomainSettings(project.id, {
    primary: `www.${zone}`,
    redirects: [
      { from: `shop.${zone}`, to: `www.${zone}`, status: 308 },
      { from: `soon.${zone}`, to: 'https://elsewhere.test/shop', status: 302 },
    ],
  });
};

const hostileAddress = records('<script>alert(1)</script>');
