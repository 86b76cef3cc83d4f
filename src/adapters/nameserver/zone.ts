import type { SoaAnswer, StringAnswer } from 'dns-packet';

/** The zone that the operator has delegated to us. */
export interface Zone {
  /** Lower case, without a final dot. */
  readonly name: string;
  /** On the wire: one character for each byte. */
  readonly wire: string;
  readonly nameServers: readonly StringAnswer[];
  readonly authority: SoaAnswer;
}

/** Of what is in the zone for as long as it exists. */
const lastingTtl = 3600;

/** @param name lower case, of at least three labels */
export const zoneOf = (name: string): Zone => ({
  name,
  wire: wireName(name),
  nameServers: [{ type: 'NS', name, ttl: lastingTtl, data: nameServerOf(name) }],
  authority: {
    type: 'SOA',
    name,
    ttl: lastingTtl,
    data: {
      mname: nameServerOf(name),
      rname: `hostmaster.${parentOf(name)}`,
      // Nobody transfers the zone, so nobody compares it.
      serial: 1,
      refresh: 3600,
      retry: 600,
      expire: 604_800,
      // No resolver may remember that a value is missing: the next question may come after it was stored (RFC 2308).
      minimum: 0,
    },
  },
});

/**
 * The name of our name servers stands beside the zone, in its parent. Inside, it would need address records, and the
 * zone has none.
 */
export const nameServerOf = (zone: string): string => {
  const [label = ''] = zone.split('.');
  return `${label}-ns.${parentOf(zone)}`;
};

const parentOf = (zone: string): string => zone.slice(zone.indexOf('.') + 1);

const wireName = (name: string): string =>
  [...name.split('.'), ''].map((label) => String.fromCharCode(label.length) + label).join('');
