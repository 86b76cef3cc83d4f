import { RouteTableKey } from '../../../src/app/keys.ts';
import { recordsFor, type DnsRecord } from '../../../src/domains/domain/dns/records.ts';
import { baseOf, isWildcard } from '../../../src/domains/domain/names/hostname.ts';
import type { DnsZones } from '../world/dns-zones.ts';
import { authorityNames, service } from '../world/world.ts';
import { type Facts, type Law, type Seen, inText, toleratedSkewMs } from './law.ts';
import { aliasOf, leadsHere, type Past, published, together } from './past.ts';
import { dayMs, hourMs } from '../world/durations.ts';
import { X509Certificate } from 'node:crypto';
import { renewalTime } from '../../../src/domains/domain/certificates/renewal.ts';
import { zoneOf } from '../shops.ts';

/**
 * Time that everything needs after the weather has become good. A weekly budget may be used up, the next check comes
 * within 1.1 days, and the wait after failed attempts is at most a day.
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
  name: 'Every correct domain goes live soon after the weather clears',
  atTheEnd: (seen) => {
    const all = seen.stored.rows<Waiting>(attached);
    const late = all.find((one) => one.state !== 'live' && isRight(one, all, seen));
    return late && { host: late.host, id: late.id, state: late.state, step: late.step ?? 'none' };
  },
};

/** Whether the displayed records exist and an authority may issue. A domain that waits for its owner is not right. */
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
  const settledAt = together(here, seen.past.inServiceSince(domain.project_id));
  const isSettled = settledAt !== undefined && settledAt <= since;
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
    for (const domain of seen.stored.rows<Waiting>(attached)) {
      const { host, state, project_id: project } = domain;
      if (state !== 'live' || !isBack({ host, project }, seen, settlingMs - hourMs)) continue;
      const facts = unserved(domain, seen);
      if (facts) return facts;
    }
    return undefined;
  },
};

const isBack = (
  { host, project }: { readonly host: string; readonly project: string },
  { past, time }: Seen,
  ms: number,
): boolean => {
  const since = past.inServiceSince(project);
  if (since === -Infinity) return true;
  const at = together(since, past.leadsHereSince(host));
  return at !== undefined && at <= time.now - ms;
};

/** The next check of a name that led elsewhere comes within 1.1 days. */
const backWithinMs = 1.2 * dayMs;

export const restoredIsServed: Law = {
  name: 'A restored project is served again once its DNS leads here',
  eachHour: (seen) => {
    for (const domain of seen.stored.rows<Live>(live)) {
      const { host, project_id: project } = domain;
      const back = seen.past.inServiceSince(project);
      if (back === undefined || back === -Infinity) continue;
      const since = together(back, allWellSince(host, seen));
      if (since === undefined || seen.time.now - since < backWithinMs) continue;
      const facts = unserved(domain, seen);
      if (facts?.['route'] !== undefined) return { ...facts, 'restored at': inText(back) };
    }
    return undefined;
  },
};

const unserved = (domain: Named, { fleet, past, time, world }: Seen): Facts | undefined => {
  const { host } = domain;
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
    provableSince(domain, past),
    Math.min(...willing.map((one) => past.allowedSince(one, host) ?? Infinity)),
  ].every((at) => at !== undefined && at <= since);
  const certificate = routes.certificate(name);
  const isValid = certificate !== undefined && certificate.notAfter.getTime() > time.now;
  return isRight && !isValid ? { host, certificate: 'none that is valid' } : undefined;
};

interface Live {
  readonly id: string;
  readonly project_id: string;
  readonly host: string;
  readonly token: string;
  readonly liveSince: string;
  readonly chain: string | null;
  readonly not_before: number | null;
  readonly not_after: number | null;
}

const live = `
  select d.id, d.project_id, d.host, d.token, d.details ->> '$.liveSince' as liveSince, c.chain, c.not_before, c.not_after
  from domains d left join certificates c on c.host = d.host and c.removed_at is null
  where d.state = 'live'`;

export interface Decided {
  looks: number;
  /** How many looks found everything well for so long that the law could have been broken. */
  decidable: number;
}

export const liveIsSecure = (decided: Decided = { looks: 0, decidable: 0 }): Law => {
  const namesIn = namesOfChains();
  return {
    name: 'A live name has a valid certificate while its DNS and an authority are well',
    eachHour: (seen) => {
      for (const domain of seen.stored.rows<Live>(live)) {
        const facts = judged(domain, namesIn, seen, decided);
        if (facts) return facts;
      }
      return undefined;
    },
  };
};

const judged = (
  domain: Live,
  namesIn: (chain: string) => readonly string[],
  seen: Seen,
  decided: Decided,
): Facts | undefined => {
  const { host, chain, not_before: begin, not_after: end } = domain;
  decided.looks += 1;
  if (chain === null || begin === null || end === null) return { host, certificate: 'none' };
  if (!namesIn(chain).includes(host)) return { host, 'names in it': namesIn(chain).join(' ') };
  const validity = { notBefore: new Date(begin), notAfter: new Date(end) };
  const wellSince = together(
    renewalTime({ host, ...validity }).getTime(),
    Date.parse(domain.liveSince),
    seen.past.inServiceSince(domain.project_id),
    allWellSince(host, seen),
    provableSince(domain, seen.past),
  );
  const enoughMs = Math.max(dayMs, (end - begin) / 10);
  if (wellSince === undefined || seen.time.now - wellSince < enoughMs) return undefined;
  if (isHeldUp(domain.id, wellSince, seen)) return undefined;
  decided.decidable += 1;
  if (end > seen.time.now) return undefined;
  return { host, 'certificate ended': inText(end), 'all well since': inText(wellSince) };
};

type Named = Pick<Waiting, 'host' | 'token'>;

/** A wildcard is validated by DNS only, for which its challenge must be delegated to us. */
const provableSince = ({ host, token }: Named, past: Past): number | undefined =>
  isWildcard(host) ? past.delegatedSince(host, `${token}.${service.acmeDnsZone}`) : -Infinity;

/** Since when its DNS, the resolvers, an authority that may issue, and the fleet have been well. */
const allWellSince = (host: string, { past, fleet, world }: Seen): number | undefined => {
  if ([...fleet.values()].some(({ actor }) => isOff(actor))) return undefined;
  const ofAuthorities = authorityNames.flatMap((name) => {
    const since = past.allowedSince(name, host);
    const seesUs = past.wellSince('view', name);
    const well = together(since, seesUs, past.wellSince('authority', name));
    const isRejected = world.authorities[name].rejected.has(baseOf(host));
    return well === undefined || isRejected ? [] : [well];
  });
  return together(
    ...[past.leadsHereSince(host), past.allWellSince('resolver')],
    ...[past.wellSince('zone', zoneOf(host)), past.wellSince('zone', service.acmeDnsZone)],
    ofAuthorities.length > 0 ? Math.min(...ofAuthorities) : undefined,
    ...(['worker-1', 'worker-2', 'edge', 'dns'] as const).map((name) => past.upSince(name)),
  );
};

const isOff = ({ clockAheadMs }: { readonly clockAheadMs: number }): boolean =>
  Math.abs(clockAheadMs) > toleratedSkewMs;

/** A budget that the owner has used up delays a renewal by up to a week. */
const isHeldUp = (id: string, since: number, { stored }: Seen): boolean =>
  stored.has(
    `select 1 from domain_timeline where domain_id = ? and kind = 'attempt' and occurred_at >= ?
      and details ->> '$.budget' is not null`,
    ...[id, Math.floor(since) - 7 * dayMs],
  );

const namesOfChains = () => {
  const known = new Map<string, readonly string[]>();
  return (chain: string): readonly string[] => {
    const names = known.get(chain) ?? namesInCertificate(chain);
    known.set(chain, names);
    return names;
  };
};

const namesInCertificate = (chain: string): readonly string[] =>
  (new X509Certificate(chain).subjectAltName ?? '')
    .split(', ')
    .map((name) => name.replace(/^DNS:/, ''));
