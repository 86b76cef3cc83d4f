import { baseOf, isWildcard } from '../../../src/domains/domain/names/hostname.ts';
import { parentOf, type RecordData, type RecordType } from '../world/dns-records.ts';
import type { DnsZones } from '../world/dns-zones.ts';

// What the zones say, without resolvers in between.

const longestChain = 8;

/** @returns the records of a name, or of what its aliases lead to; none where name servers of the service answer */
export const published = <Type extends RecordType>(
  zones: DnsZones,
  name: string,
  type: Type,
): readonly RecordData[Type][] => {
  let at = name;
  for (let hop = 0; hop < longestChain; hop++) {
    const found = zones.find(at, type);
    if (found instanceof Promise) return [];
    if (found.kind === 'records') return found.records;
    const [target] = found.kind === 'alias' ? found.cname.records : [];
    if (target === undefined) return [];
    at = target;
  }
  return [];
};

/** The alias at a name itself. */
export const aliasOf = (zones: DnsZones, name: string): string | undefined => {
  const found = zones.find(name, 'CNAME');
  if (found instanceof Promise || found.kind !== 'records') return undefined;
  return found.records[0];
};

/** Whether an issuer may issue; `unclear` where that depends on how the name is proven. */
export type CaaVerdict = 'allows' | 'forbids' | 'unclear';

/** What CAA says of an issuer (RFC 8659, section 3; RFC 8657). */
export const caaSays = (zones: DnsZones, issuer: string, host: string): CaaVerdict => {
  for (let level = baseOf(host); level !== ''; level = parentOf(level)) {
    const records = published(zones, level, 'CAA');
    if (records.length === 0) continue;
    const ofTag = (wanted: string) => records.filter(({ tag }) => tag === wanted);
    const wild = isWildcard(host) ? ofTag('issuewild') : [];
    const relevant = wild.length > 0 ? wild : ofTag('issue');
    if (relevant.length === 0) return 'allows';
    const verdicts = relevant.map(({ value }) => verdictOf(value, issuer, { zones, host }));
    return verdicts.includes('allows')
      ? 'allows'
      : verdicts.includes('unclear')
        ? 'unclear'
        : 'forbids';
  }
  return 'allows';
};

/** The service has one account at each authority, which is its first one. */
export const accountAt = (issuer: string): string => `https://acme.${issuer}/acme/acct/1`;

const verdictOf = (
  text: string,
  issuer: string,
  { zones, host }: { readonly zones: DnsZones; readonly host: string },
): CaaVerdict => {
  const [its, parameter = ''] = text.split(';').map((part) => part.trim());
  if (its !== issuer) return 'forbids';
  const [name, value] = parameter.split('=');
  if (name === 'accounturi') return value === accountAt(issuer) ? 'allows' : 'forbids';
  if (name !== 'validationmethods') return 'allows';
  if (isWildcard(host)) return value === 'dns-01' ? 'allows' : 'forbids';
  // With a delegation, the service may choose either method.
  if (aliasOf(zones, `_acme-challenge.${host}`) !== undefined) return 'unclear';
  return value === 'http-01' ? 'allows' : 'forbids';
};

/** Whether visitors of a host come to the service, and to nobody else. */
export const leadsHere = (zones: DnsZones, address: string, host: string): boolean => {
  const name = isWildcard(host) ? `some.${baseOf(host)}` : host;
  const addresses = published(zones, name, 'A');
  return addresses.length > 0 && addresses.every((one) => one === address);
};
