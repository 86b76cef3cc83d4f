import { baseOf, isWildcard } from '../../../src/domains/domain/names/name-rules.ts';
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

/** Whether CAA forbids an issuer (RFC 8659, section 3). What else a record asks for counts as allowed. */
export const forbids = (zones: DnsZones, issuer: string, host: string): boolean => {
  for (let level = baseOf(host); level !== ''; level = parentOf(level)) {
    const records = published(zones, level, 'CAA');
    if (records.length === 0) continue;
    const ofTag = (wanted: string) => records.filter(({ tag }) => tag === wanted);
    const wild = isWildcard(host) ? ofTag('issuewild') : [];
    const relevant = wild.length > 0 ? wild : ofTag('issue');
    return relevant.length > 0 && !relevant.some(({ value }) => issuerIn(value) === issuer);
  }
  return false;
};

const issuerIn = (value: string): string => (value.split(';')[0] ?? '').trim();

/** Whether visitors of a host come to the service, and to nobody else. */
export const leadsHere = (zones: DnsZones, address: string, host: string): boolean => {
  const name = isWildcard(host) ? `some.${baseOf(host)}` : host;
  const addresses = published(zones, name, 'A');
  return addresses.length > 0 && addresses.every((one) => one === address);
};
