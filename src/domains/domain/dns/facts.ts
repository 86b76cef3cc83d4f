import ipaddr from 'ipaddr.js';

/** One resolver's answer to one question, not yet judged. */
export type DnsAnswer<Item> =
  | {
      readonly kind: 'records';
      /** At least one. Names in lower case, without the last dot. */
      readonly records: readonly Item[];
      /** Seconds, if the resolver reports them. */
      readonly ttl: number | undefined;
      readonly isAuthentic?: Authentic;
    }
  /** The name exists but has nothing of this type, also at the end of a CNAME. */
  | { readonly kind: 'none'; readonly isAuthentic?: Authentic }
  | { readonly kind: 'no_such_name'; readonly isAuthentic?: Authentic }
  | { readonly kind: 'failed'; readonly reason: DnsFailure };

/** The resolver validated the answer by DNSSEC; of answers that say so, which only those about CAA do. */
type Authentic = true;

/** Why a resolver failed, in its own words (RFC 8914). */
export interface ExtendedError {
  readonly code: number;
  /** One short line; from outside, as all answers are. */
  readonly text: string;
}

/** A question that fails with SERVFAIL, but is answered with checking disabled (RFC 4035, section 3.2.2). */
export interface UncheckedAnswer {
  /** Its type and name. */
  readonly question: string;
  readonly errors: readonly ExtendedError[];
}

/** `too_large`: the answer came, with more than `largestAnswer`. */
export const dnsFailures = [
  'timeout',
  'servfail',
  'refused',
  'malformed',
  'unreachable',
  'too_large',
] as const;
export type DnsFailure = (typeof dnsFailures)[number];

/** Limits for one answer; `characters` counts all names and texts together. */
export const largestAnswer = { records: 1000, characters: 65_536 } as const;

/** RFC 8659, section 4.1. */
export interface CaaRecord {
  readonly flags: number;
  /** As it was written; compare without regard to case. */
  readonly tag: string;
  readonly value: string;
}

/** The CAA records of one name on the way from the host to its top-level domain. */
export interface CaaLevel {
  readonly name: string;
  readonly answer: DnsAnswer<CaaRecord>;
}

export const chainEnds = ['reached', 'loop', 'too_long', 'failed'] as const;

/** The names that a host leads to by CNAME, in order, without the host itself. */
export interface CnameChain {
  readonly names: readonly string[];
  readonly end: (typeof chainEnds)[number];
}

/** A zone and the name servers that it names itself. */
export interface DnsZone {
  readonly name: string;
  readonly nameServers: readonly string[];
}

/** All that one resolver answered about one host. */
export interface ResolverFacts {
  /** Its address, with the port where that is not 53. */
  readonly resolver: string;
  readonly tookMs: number;
  readonly cname: DnsAnswer<string>;
  readonly chain: CnameChain;
  /** Through the chain. */
  readonly a: DnsAnswer<string>;
  readonly aaaa: DnsAnswer<string>;
  /** At `_animal-store-challenge.<host>`; each record's strings joined. */
  readonly txt: DnsAnswer<string>;
  /** CNAME or else addresses of a made-up name beside the host: records there mean wildcard DNS. */
  readonly sibling: DnsAnswer<string>;
  /** The CNAME at `_acme-challenge.<host>`; undefined where there is no zone that it could lead to. */
  readonly delegation?: DnsAnswer<string> | undefined;
  /** SOA and NS stand at the name itself: it is the apex of a zone. */
  readonly isZoneApex: boolean;
  /** From the host, or the name that a wildcard is below, upwards to the first level that has records or fails; the last one is the top-level domain. */
  readonly caa: readonly CaaLevel[];
  /** The closest one at or above the host; undefined where none was found below the top-level domain. */
  readonly zone?: DnsZone | undefined;
  /** The first question about the owner's zone that is only answered without checking; asked after a SERVFAIL alone. */
  readonly unchecked?: UncheckedAnswer | undefined;
}

export interface DnsFacts {
  readonly host: string;
  /** Of a wildcard: a made-up name that it covers, which was asked for in its place. */
  readonly probe?: string | undefined;
  readonly checkedAt: Date;
  /** One for each resolver, in the order of the settings. */
  readonly resolvers: readonly ResolverFacts[];
}

export const recordsOf = <Item>(answer: DnsAnswer<Item>): readonly Item[] =>
  answer.kind === 'records' ? answer.records : [];

/** How many seconds the longest-lived of some answers is still given. */
export const longestTtl = (answers: readonly DnsAnswer<unknown>[]): number | undefined => {
  const ttls = answers.flatMap((answer) =>
    answer.kind === 'records' && answer.ttl !== undefined ? [answer.ttl] : [],
  );
  return ttls.length > 0 ? Math.max(...ttls) : undefined;
};

export const addressesOf = ({ a, aaaa }: ResolverFacts): readonly string[] => [
  ...recordsOf(a),
  ...recordsOf(aaaa),
];

/** In words, like `A 192.0.2.1; AAAA 2001:db8::1`. */
export const addressesSeen = ({ a, aaaa }: ResolverFacts): string =>
  [['A', recordsOf(a)] as const, ['AAAA', recordsOf(aaaa)] as const]
    .filter(([, records]) => records.length > 0)
    .map(([type, records]) => `${type} ${listed(records)}`)
    .join('; ');

/** How much of what comes from outside is kept and shown: so many characters of a text, so many texts of a list. */
export const shownAtMost = { characters: 512, records: 20 } as const;

/** Of a list in one sentence. */
const longestList = 400;

export const shortened = (text: string, longest: number = shownAtMost.characters): string =>
  text.length <= longest ? text : `${text.slice(0, Math.max(0, longest - 1))}…`;

/** In words, such as `a, b, and 3 more`. @param texts what matters most first */
export const listed = (texts: readonly string[], separator = ', '): string => {
  const shown: string[] = [];
  let length = 0;
  for (const text of texts.slice(0, shownAtMost.records)) {
    const next = shortened(text, longestList);
    length += next.length;
    if (shown.length > 0 && length > longestList) break;
    shown.push(next);
  }
  const more = texts.length - shown.length;
  return [...shown, ...(more > 0 ? [andMore(more)] : [])].join(separator);
};

export const andMore = (more: number): string => `and ${more} more`;

/** The same in another order: what matters comes first. */
export const firstThose = <Item>(
  items: readonly Item[],
  matters: (item: Item) => boolean,
): readonly Item[] => {
  const split = Map.groupBy(items, matters);
  return [...(split.get(true) ?? []), ...(split.get(false) ?? [])];
};

export const isSameAddress = (one: string, other: string): boolean => isInNetwork(one, other);

/** @param network like `192.0.2.0/24`, or one address */
export const isInNetwork = (address: string, network: string): boolean => {
  const [base = '', prefix] = network.split('/');
  const [inside, outside] = [parsed(address), parsed(base)];
  if (inside?.kind() !== outside?.kind() || !inside || !outside) return false;
  return inside.match(outside, Number(prefix ?? outside.toByteArray().length * 8));
};

/** `0.0.0.0` and `::` mean any address of the machine itself; nothing reaches them from outside. */
export const isUnspecified = (address: string): boolean =>
  parsed(address)
    ?.toByteArray()
    .every((byte) => byte === 0) ?? false;

/** Characters: eight groups, the last two of them as an IPv4 address. */
const longestAddress = 45;

/** @returns undefined for what is no address, as with a zone: `fe80::1%eth0` */
const parsed = (text: string): ipaddr.IPv4 | ipaddr.IPv6 | undefined => {
  if (text.length > longestAddress || text.includes('%')) return undefined;
  // Parts are decimal, also after a zero: ipaddr.js would take `010` as octal.
  const decimal = text.replace(/(^|\.)0{1,2}(?=\d)/g, '$1');
  if (ipaddr.IPv4.isValidFourPartDecimal(decimal)) return ipaddr.IPv4.parse(decimal);
  return ipaddr.IPv6.isValid(text) ? ipaddr.IPv6.parse(text) : undefined;
};
