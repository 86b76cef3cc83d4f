import { X509Certificate } from 'node:crypto';
import { baseOf } from '../../../src/domains/domain/names/hostname.ts';
import { renewalTime } from '../../../src/domains/domain/certificates/renewal.ts';
import { zoneOf } from '../shops.ts';
import { authorityNames, service } from '../world/world.ts';
import { inText, toleratedSkewMs, type Facts, type Law, type Seen } from './law.ts';
import { together } from './past.ts';
import { dayMs } from '../world/durations.ts';

interface Live {
  readonly id: string;
  readonly host: string;
  readonly liveSince: string;
  readonly chain: string | null;
  readonly not_before: number | null;
  readonly not_after: number | null;
}

/** Which edges serve, by their table. */
const live = `
  select d.id, d.host, d.details ->> '$.liveSince' as liveSince, c.chain, c.not_before, c.not_after
  from domains d left join certificates c on c.host = d.host and c.removed_at is null
  where d.state = 'live'`;

export interface Decided {
  /** How many looks at a live domain there were. */
  looks: number;
  /** How many of them found everything well for so long that the law could be broken. */
  decidable: number;
}

/** @param decided counts how often the law could be asked */
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
    allWellSince(host, seen),
  );
  const enoughMs = Math.max(dayMs, (end - begin) / 10);
  if (wellSince === undefined || seen.time.now - wellSince < enoughMs) return undefined;
  if (isHeldUp(domain.id, wellSince, seen)) return undefined;
  decided.decidable += 1;
  if (end > seen.time.now) return undefined;
  return { host, 'certificate ended': inText(end), 'all well since': inText(wellSince) };
};

/** Since when its DNS, resolvers, an authority that may issue, and the fleet have been well. */
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

/** A budget that is used up delays a renewal by as much as a week, and the owner has used it up. */
const isHeldUp = (id: string, since: number, { stored }: Seen): boolean =>
  stored.has(
    `select 1 from domain_timeline where domain_id = ? and kind = 'attempt' and occurred_at >= ?
      and details ->> '$.budget' is not null`,
    ...[id, Math.floor(since) - 7 * dayMs],
  );

/** Each chain is read once. */
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
