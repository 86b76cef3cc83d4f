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
