import type { Hostname } from '../names/hostname.ts';

export interface DnsRecord {
  readonly purpose: 'route' | 'ownership';
  /** ALIAS stands for what providers call ALIAS, ANAME or CNAME flattening. */
  readonly type: 'CNAME' | 'ALIAS' | 'TXT';
  /** Relative to the registrable domain, as most providers expect; `@` is the domain itself. */
  readonly name: string;
  readonly fqdn: string;
  readonly value: string;
  /** Seconds. */
  readonly ttl: number;
  readonly required: boolean;
}

export interface RecordNeeds {
  readonly platformHost: string;
  /** Whether the TXT record has to be there; the report on the DNS says so. */
  readonly txtRequired: boolean;
}

const ttl = 3600;

/** Unique to one attachment and never used again: a record left behind points nowhere. */
export const cnameTarget = (token: string, platformHost: string): string =>
  `${token}.${platformHost}`;

export const challengeNameOf = (host: string): string => `_animal-store-challenge.${host}`;

export const ownershipValueOf = (token: string): string => `animal-store-verify=${token}`;

export const recordsFor = (
  { host, registrableDomain, isApex }: Pick<Hostname, 'host' | 'registrableDomain' | 'isApex'>,
  token: string,
  { platformHost, txtRequired }: RecordNeeds,
): readonly [DnsRecord, DnsRecord] => {
  const challenge = challengeNameOf(host);
  return [
    {
      purpose: 'route',
      type: isApex ? 'ALIAS' : 'CNAME',
      name: relativeTo(registrableDomain, host),
      fqdn: host,
      value: cnameTarget(token, platformHost),
      ttl,
      required: true,
    },
    {
      purpose: 'ownership',
      type: 'TXT',
      name: relativeTo(registrableDomain, challenge),
      fqdn: challenge,
      value: ownershipValueOf(token),
      ttl,
      required: txtRequired || isApex,
    },
  ];
};

/** For zone files. BIND has no ALIAS, so that line is a comment. */
export const bindSnippet = (records: readonly DnsRecord[], registrableDomain: string): string =>
  [`$ORIGIN ${registrableDomain}.`, ...records.map(zoneLine)].map((line) => `${line}\n`).join('');

/** What to know before changing records. */
export const recordHints = (isApex: boolean): readonly string[] => [
  'DNS changes can take up to 48 hours to propagate.',
  'If the name already has records, lower their TTL first and wait for the old TTL to expire: the change then takes effect quickly.',
  'A CAA record that blocks our certificate authority must be changed, or no certificate can be issued.',
  ...(isApex
    ? [
        'An apex domain cannot have a CNAME record. It needs ALIAS, ANAME or CNAME flattening, which not every DNS provider supports.',
      ]
    : []),
];

const relativeTo = (zone: string, fqdn: string): string =>
  fqdn === zone ? '@' : fqdn.slice(0, -zone.length - 1);

const zoneLine = ({ type, name, value, ttl: seconds }: DnsRecord): string => {
  const start = `${name} ${seconds} IN ${type}`;
  if (type === 'TXT') return `${start} "${value}"`;
  return type === 'CNAME' ? `${start} ${value}.` : `; ${start} ${value}. (ALIAS or ANAME)`;
};
