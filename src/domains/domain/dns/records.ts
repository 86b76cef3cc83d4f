import { type Hostname, baseOf, isWildcard } from '../names/hostname.ts';

export interface DnsRecord {
  readonly purpose: 'route' | 'ownership' | 'delegation';
  /** Providers call it ALIAS, ANAME or CNAME flattening. */
  readonly type: 'CNAME' | 'ALIAS' | 'TXT';
  /** Relative to the registrable domain, as most providers expect; `@` is the domain itself. */
  readonly name: string;
  readonly fqdn: string;
  readonly value: string;
  /** Seconds. */
  readonly ttl: number;
  readonly required: boolean;
}

export interface RecordZones {
  readonly platformHost: string;
  readonly acmeDnsZone?: string | undefined;
}

export interface RecordNeeds extends RecordZones {
  readonly txtRequired: boolean;
  /** The token of the wildcard that shares the challenge name, which must point to the wildcard's target. */
  readonly sharedToken?: string | undefined;
  readonly isDelegated?: boolean | undefined;
}

const ttl = 3600;

/** Never reused, so a record left behind points nowhere. */
export const cnameTarget = (token: string, platformHost: string): string =>
  `${token}.${platformHost}`;

export const challengeNameOf = (host: string): string => `_animal-store-challenge.${baseOf(host)}`;

/** Where authorities look up DNS challenges, without `*.` (RFC 8555, section 8.4). */
export const delegationNameOf = (host: string): string => `_acme-challenge.${baseOf(host)}`;

export const delegationTarget = (token: string, acmeDnsZone: string): string =>
  `${token}.${acmeDnsZone}`;

export const ownershipValueOf = (token: string): string => `animal-store-verify=${token}`;

export const proofOf = (host: string): string =>
  isWildcard(host) ? `the CNAME record of ${delegationNameOf(host)}` : 'the TXT record';

/** A wildcard has no TXT record, because the delegation proves it. */
export const recordsFor = (
  { host, registrableDomain, isApex }: Pick<Hostname, 'host' | 'registrableDomain' | 'isApex'>,
  token: string,
  needs: RecordNeeds,
): readonly [DnsRecord, ...DnsRecord[]] => {
  const { platformHost, acmeDnsZone: zone, sharedToken = token, txtRequired, isDelegated } = needs;
  const at = (fqdn: string) => ({ name: relativeTo(registrableDomain, fqdn), fqdn });
  const route: DnsRecord = {
    purpose: 'route',
    type: isApex ? 'ALIAS' : 'CNAME',
    ...at(host),
    value: cnameTarget(token, platformHost),
    ttl,
    required: true,
  };
  const ownership: DnsRecord = {
    purpose: 'ownership',
    type: 'TXT',
    ...at(challengeNameOf(host)),
    value: ownershipValueOf(token),
    ttl,
    required: !isDelegated && (txtRequired || isApex),
  };
  const delegation = (acmeDnsZone: string): DnsRecord => ({
    purpose: 'delegation',
    type: 'CNAME',
    ...at(delegationNameOf(host)),
    value: delegationTarget(sharedToken, acmeDnsZone),
    ttl,
    required: isWildcard(host),
  });
  return [
    route,
    ...(isWildcard(host) ? [] : [ownership]),
    ...(zone === undefined ? [] : [delegation(zone)]),
  ];
};

/** BIND has no ALIAS, so that line is a comment. */
export const bindSnippet = (records: readonly DnsRecord[], registrableDomain: string): string =>
  [`$ORIGIN ${registrableDomain}.`, ...records.map(zoneLine)].map((line) => `${line}\n`).join('');

export const recordHints = ({
  host,
  isApex,
  sharedToken,
}: Pick<Hostname, 'host' | 'isApex'> & Pick<RecordNeeds, 'sharedToken'>): readonly string[] => [
  'DNS changes can take up to 48 hours to propagate.',
  'If the name already has records, lower their TTL first and wait for the old TTL to expire: the change then takes effect quickly.',
  'A CAA record that blocks our certificate authority must be changed, or no certificate can be issued.',
  ...(isApex
    ? [
        'An apex domain cannot have a CNAME record. It needs ALIAS, ANAME or CNAME flattening, which not every DNS provider supports.',
      ]
    : []),
  ...(isWildcard(host)
    ? [
        `Create both records: ${host} does not replace ${delegationNameOf(host)}. That one can lead to one place only. If you add ${baseOf(host)} to the same project, it serves both.`,
        `A name below ${baseOf(host)} that has records of its own does not lead here.`,
      ]
    : []),
  ...(sharedToken === undefined
    ? []
    : [
        `${delegationNameOf(host)} has the value of *.${host}, and serves both. It proves ${host} only together with the TXT record.`,
      ]),
];

const relativeTo = (zone: string, fqdn: string): string =>
  fqdn === zone ? '@' : fqdn.slice(0, -zone.length - 1);

const zoneLine = ({ type, name, value, ttl: seconds }: DnsRecord): string => {
  const start = `${name} ${seconds} IN ${type}`;
  if (type === 'TXT') return `${start} "${value}"`;
  return type === 'CNAME' ? `${start} ${value}.` : `; ${start} ${value}. (ALIAS or ANAME)`;
};
