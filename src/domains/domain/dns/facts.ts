import ipaddr from 'ipaddr.js';

export type DnsAnswer<Item> =
  | {
      readonly kind: 'records';
      readonly records: readonly Item[];
      readonly ttl: number | undefined;
      readonly isAuthentic?: Authentic;
    }
  /** The name exists but has no such record, even after following CNAMEs. */
  | { readonly kind: 'none'; readonly isAuthentic?: Authentic }
  | { readonly kind: 'no_such_name'; readonly isAuthentic?: Authentic }
  | { readonly kind: 'failed'; readonly reason: DnsFailure };

/** The resolver validated the answer with DNSSEC. Only CAA answers report this. */
type Authentic = true;

/** The resolver's reason for a failure (RFC 8914). */
export interface ExtendedError {
  readonly code: number;
  /** One short line of untrusted text. */
  readonly text: string;
}

/** Fails with SERVFAIL, but not with DNSSEC validation disabled (RFC 4035, section 3.2.2). */
export interface UncheckedAnswer {
  readonly question: string;
  readonly errors: readonly ExtendedError[];
}

export const dnsFailures = [
  'timeout',
  'servfail',
  'refused',
  'malformed',
  'unreachable',
  'too_large',
] as const;
export type DnsFailure = (typeof dnsFailures)[number];

/** Limits for one answer; `characters` counts all names and texts. */
export const largestAnswer = { records: 1000, characters: 65_536 } as const;

export interface CaaRecord {
  readonly flags: number;
  /** In its original spelling; compare without case. */
  readonly tag: string;
  readonly value: string;
}

export interface CaaLevel {
  readonly name: string;
  readonly answer: DnsAnswer<CaaRecord>;
}

export const chainEnds = ['reached', 'loop', 'too_long', 'failed'] as const;

export interface CnameChain {
  readonly names: readonly string[];
  readonly end: (typeof chainEnds)[number];
}

export interface DnsZone {
  readonly name: string;
  readonly nameServers: readonly string[];
}

export interface ResolverFacts {
  readonly resolver: string;
  readonly tookMs: number;
  readonly cname: DnsAnswer<string>;
  readonly chain: CnameChain;
  /** After following CNAMEs. */
  readonly a: DnsAnswer<string>;
  readonly aaaa: DnsAnswer<string>;
  /** At `_animal-store-challenge.<host>`; each record's strings are joined. */
  readonly txt: DnsAnswer<string>;
  /** The CNAME or addresses of a random name beside the host; records mean wildcard DNS. */
  readonly sibling: DnsAnswer<string>;
  /** The CNAME at `_acme-challenge.<host>`; undefined without a challenge zone. */
  readonly delegation?: DnsAnswer<string> | undefined;
  readonly isZoneApex: boolean;
  /** From the host (without `*.`) upwards to the first level with records or a failure. */
  readonly caa: readonly CaaLevel[];
  readonly zone?: DnsZone | undefined;
  /** Set if DNSSEC is why a question about the owner's zone failed. Checked only after SERVFAIL. */
  readonly unchecked?: UncheckedAnswer | undefined;
}

export interface DnsFacts {
  readonly host: string;
  readonly probe?: string | undefined;
  readonly checkedAt: Date;
  readonly resolvers: readonly ResolverFacts[];
}

export const recordsOf = <Item>(answer: DnsAnswer<Item>): readonly Item[] =>
  answer.kind === 'records' ? answer.records : [];

/** The longest remaining TTL, in seconds. */
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

/** Such as `A 192.0.2.1; AAAA 2001:db8::1`. */
export const addressesSeen = ({ a, aaaa }: ResolverFacts): string =>
  [['A', recordsOf(a)] as const, ['AAAA', recordsOf(aaaa)] as const]
    .filter(([, records]) => records.length > 0)
    .map(([type, records]) => `${type} ${listed(records)}`)
    .join('; ');

export const shownAtMost = { characters: 512, records: 20 } as const;

const longestList = 400;

export const shortened = (text: string, longest: number = shownAtMost.characters): string =>
  text.length <= longest ? text : `${text.slice(0, Math.max(0, longest - 1))}…`;

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

export const firstThose = <Item>(
  items: readonly Item[],
  matters: (item: Item) => boolean,
): readonly Item[] => {
  const split = Map.groupBy(items, matters);
  return [...(split.get(true) ?? []), ...(split.get(false) ?? [])];
};

export const isSameAddress = (one: string, other: string): boolean => isInNetwork(one, other);

export const isInNetwork = (address: string, network: string): boolean => {
  const [base = '', prefix] = network.split('/');
  const [inside, outside] = [parsed(address), parsed(base)];
  if (inside?.kind() !== outside?.kind() || !inside || !outside) return false;
  return inside.match(outside, Number(prefix ?? outside.toByteArray().length * 8));
};

/** `0.0.0.0` and `::` mean any address of the machine; nothing outside can reach them. */
export const isUnspecified = (address: string): boolean =>
  parsed(address)
    ?.toByteArray()
    .every((byte) => byte === 0) ?? false;

/** Eight groups, the last two as an IPv4 address. */
const longestAddress = 45;

const parsed = (text: string): ipaddr.IPv4 | ipaddr.IPv6 | undefined => {
  if (text.length > longestAddress || text.includes('%')) return undefined;
  // Parts with leading zeros are decimal; ipaddr.js would read `010` as octal.
  const decimal = text.replace(/(^|\.)0{1,2}(?=\d)/g, '$1');
  if (ipaddr.IPv4.isValidFourPartDecimal(decimal)) return ipaddr.IPv4.parse(decimal);
  return ipaddr.IPv6.isValid(text) ? ipaddr.IPv6.parse(text) : undefined;
};
