import { RouteTableKey } from '../../../src/app/keys.ts';
import { recordsFor, type DnsRecord } from '../../../src/domains/domain/dns/records.ts';
import { baseOf, isWildcard } from '../../../src/domains/domain/names/hostname.ts';
import type { DnsZones } from '../world/dns-zones.ts';
import { authorityNames, service } from '../world/world.ts';
import type { Facts, Law, Seen } from './law.ts';
import { aliasOf, leadsHere, published } from './published.ts';
import { dayMs, hourMs } from '../world/durations.ts';

/**
 * Once the weather is good: a budget of a week may be used up, the next check comes within 1.1 days, and the wait after
 * failed attempts is a day at most.
 */
export const settlingMs = 9.5 * dayMs;

interface Waiting {
  readonly id: string;
  readonly project_id: string;
  readonly host: string;
  readonly token: string;
  readonly state: string;
  readonly registrableDomain: string;
  readonly isApex: number;
  readonly step: string | null;
  readonly added_at: number;
}

const attached = `
  select id, project_id, host, token, state, added_at, details ->> '$.registrableDomain' as registrableDomain,
    details ->> '$.isApex' as isApex, details ->> '$.certificate.work.step' as step
  from domains where state <> 'removed'`;

export const rightGoesLive: Law = {
  name: 'Whatever is right goes live soon after the weather clears',
  atTheEnd: (seen) => {
    const all = seen.stored.rows<Waiting>(attached);
    const late = all.find((one) => one.state !== 'live' && isRight(one, all, seen));
    return late && { host: late.host, id: late.id, state: late.state, step: late.step ?? 'none' };
  },
};

/** Its records are there as shown, and an authority may issue; nothing but its owner can help one that waits for that. */
const isRight = (domain: Waiting, all: readonly Waiting[], seen: Seen): boolean => {
  const { zones } = seen.world.dns;
  const since = seen.time.now - settlingMs + hourMs;
  if (domain.step === 'waits_for_owner' || domain.added_at > since) return false;
  const mayIssue = authorityNames.some((name) => {
    const allowed = seen.past.allowedSince(name, domain.host);
    const isRejected = seen.world.authorities[name].rejected.has(baseOf(domain.host));
    return allowed !== undefined && allowed <= since && !isRejected;
  });
  const shared = all.find(
    ({ host, project_id: project }) => project === domain.project_id && host === `*.${domain.host}`,
  );
  const records = recordsFor({ ...domain, isApex: domain.isApex === 1 }, domain.token, {
    ...service,
    txtRequired: false,
    sharedToken: shared?.token,
  });
  const here = seen.past.leadsHereSince(domain.host);
  const isSettled = here !== undefined && here <= since;
  return mayIssue && isSettled && records.every((record) => isPublished(zones, record));
};

const isPublished = (zones: DnsZones, { type, fqdn, value }: DnsRecord): boolean => {
  switch (type) {
    case 'ALIAS':
      return leadsHere(zones, service.address, fqdn);
    case 'CNAME':
      return aliasOf(zones, fqdn) === value;
    case 'TXT':
      return published(zones, fqdn, 'TXT').includes(value);
  }
};

export const liveIsServed: Law = {
  name: 'Edges serve each live name, with a certificate that is valid where its DNS is right',
  atTheEnd: (seen) => {
    for (const { host, state } of seen.stored.rows<Waiting>(attached)) {
      const facts = state === 'live' ? unserved(host, seen) : undefined;
      if (facts) return facts;
    }
    return undefined;
  },
};

const unserved = (host: string, { fleet, past, time, world }: Seen): Facts | undefined => {
  const routes = fleet.get('edge')?.container.get(RouteTableKey);
  if (!routes) return undefined;
  const name = routes.nameFor(isWildcard(host) ? `some.${baseOf(host)}` : host);
  if (name === undefined) return { host, route: 'none' };
  const since = time.now - settlingMs + hourMs;
  const willing = authorityNames.filter(
    (one) => !world.authorities[one].rejected.has(baseOf(host)),
  );
  const isRight = [
    past.leadsHereSince(host),
    Math.min(...willing.map((one) => past.allowedSince(one, host) ?? Infinity)),
  ].every((at) => at !== undefined && at <= since);
  const certificate = routes.certificate(name);
  const isValid = certificate !== undefined && certificate.notAfter.getTime() > time.now;
  return isRight && !isValid ? { host, certificate: 'none that is valid' } : undefined;
};
