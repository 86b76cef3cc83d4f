import type { Answer, SoaAnswer, StringAnswer } from 'dns-packet';
import type { Query } from './query.ts';

export interface Zone {
  readonly name: string;
  /** Wire format, with one character per byte. */
  readonly wire: string;
  readonly nameServers: readonly StringAnswer[];
  readonly authority: SoaAnswer;
}

const lastingTtl = 3600;

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
      // There are no zone transfers, so the serial is not used.
      serial: 1,
      refresh: 3600,
      retry: 600,
      expire: 604_800,
      // Resolvers must not cache a missing value, because it may be stored a moment later (RFC 2308).
      minimum: 0,
    },
  },
});

/** Derives the name server's name in the parent zone, because this zone has no address records. */
export const nameServerOf = (zone: string): string => {
  const [label = ''] = zone.split('.');
  return `${label}-ns.${parentOf(zone)}`;
};

const parentOf = (zone: string): string => zone.slice(zone.indexOf('.') + 1);

const wireName = (name: string): string =>
  [...name.split('.'), ''].map((label) => String.fromCharCode(label.length) + label).join('');

export const rcodes = {
  NOERROR: 0,
  FORMERR: 1,
  SERVFAIL: 2,
  NXDOMAIN: 3,
  NOTIMP: 4,
  REFUSED: 5,
  BADVERS: 16,
} as const;

export type Rcode = keyof typeof rcodes;

export interface ZoneAnswer {
  readonly rcode: Rcode;
  readonly isOurs: boolean;
  readonly answers: readonly Answer[];
  readonly authorities: readonly Answer[];
}

export type Values = readonly string[] | 'unknown';

const classIn = 1;
const types = { NS: 2, SOA: 6, TXT: 16, OPT: 41, ANY: 255 } as const;
/** From this type on, questions are not about records, such as transfers (RFC 6895, section 3.1). */
const firstMetaType = 128;

/** More than two remain only after failed orders. Many would not fit into a datagram. */
const mostValues = 8;

/**
 * Answers as RFC 1034, section 4.3.2; 2308, section 2; 6891, section 6.1.3; 8482, section 4.1 require.
 * @param values of `labelIn`
 */
export const answerTo = (query: Query, zone: Zone, values: Values = []): ZoneAnswer => {
  const { type, extension } = query;
  if (extension && extension.version !== 0) return { ...failed('BADVERS'), isOurs: false };
  if (type === types.OPT) return failed('FORMERR');
  const place = placeOf(query, zone);
  if (place === 'elsewhere' || isMeta(type)) return failed('REFUSED');
  if (place === 'apex') return ours(zone, atApex(type, zone));
  if (place === 'nowhere') return { ...ours(zone, []), rcode: 'NXDOMAIN' };
  if (values === 'unknown') return failed('SERVFAIL');
  if (values.length === 0) return { ...ours(zone, []), rcode: 'NXDOMAIN' };
  return ours(zone, atLabel(type, `${place.label}.${zone.name}`, values));
};

export const labelIn = (query: Query, zone: Zone): string | undefined => {
  const { type, extension } = query;
  if (type === types.OPT || isMeta(type) || (extension?.version ?? 0) !== 0) return undefined;
  const place = placeOf(query, zone);
  return typeof place === 'string' ? undefined : place.label;
};

const isMeta = (type: number): boolean => type >= firstMetaType && type < 256 && type !== types.ANY;

type Place = 'elsewhere' | 'apex' | 'nowhere' | { readonly label: string };

const placeOf = ({ name, class: asked }: Query, zone: Zone): Place => {
  if (asked !== classIn) return 'elsewhere';
  if (name === zone.wire) return 'apex';
  const below = name.length - zone.wire.length;
  if (below <= 0 || !name.endsWith(zone.wire)) return 'elsewhere';
  let at = 0;
  while (at < below) at += 1 + name.charCodeAt(at);
  // The matching bytes begin within a label.
  if (at !== below) return 'elsewhere';
  const label = name.slice(1, below);
  return canHaveValues.test(label) ? { label } : 'nowhere';
};

/** The label of a domain's token, or `platform`. Other labels need no lookup. */
const canHaveValues = /^(t-[0-9a-f]{32}|platform)$/;

const atApex = (type: number, { authority, nameServers }: Zone): readonly Answer[] => {
  switch (type) {
    case types.SOA:
    case types.ANY:
      return [authority];
    case types.NS:
      return nameServers;
    default:
      return [];
  }
};

const atLabel = (type: number, name: string, values: readonly string[]): readonly Answer[] => {
  if (type !== types.TXT && type !== types.ANY) return [];
  // Not cached, because the next order has other values.
  return values.slice(0, mostValues).map((data) => ({ type: 'TXT', name, ttl: 0, data }));
};

/** A negative answer includes the SOA, whose minimum limits caching (RFC 2308, section 3). */
const ours = ({ authority }: Zone, answers: readonly Answer[]): ZoneAnswer => ({
  rcode: 'NOERROR',
  isOurs: true,
  answers,
  authorities: answers.length > 0 ? [] : [{ ...authority, ttl: authority.data.minimum ?? 0 }],
});

const failed = (rcode: Rcode): ZoneAnswer => ({
  rcode,
  isOurs: false,
  answers: [],
  authorities: [],
});
