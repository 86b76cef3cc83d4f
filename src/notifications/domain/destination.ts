import { webhookInvalid } from './notifications-error.ts';
import ipaddr from 'ipaddr.js';

/** Checks the form and IP addresses. Names are resolved for each call. @throws DomainError `webhook_invalid` */
export const checkedAddress = (text: string, rules: DestinationRules): string => {
  const read = readDestination(text.trim(), rules);
  if (read.kind === 'refused') throw webhookInvalid(read.explanation);
  return read.destination.url;
};

/** The host, and its port unless it is the usual one. The rest of an address may be secret. */
export const receiverOf = (address: string): string => new URL(address).host;

export const hostOf = (address: string): string => new URL(address).hostname;

export interface SpecialRange {
  readonly network: string;
  readonly use: string;
  readonly source: string;
}

/** Special-purpose addresses: all blocks of the IANA registries (RFC 6890). The first match gives the use. */
export const specialRanges: readonly SpecialRange[] = [
  { network: '0.0.0.0/8', use: 'this network', source: 'RFC 791, section 3.2' },
  { network: '10.0.0.0/8', use: 'private', source: 'RFC 1918' },
  { network: '100.64.0.0/10', use: 'shared by carriers', source: 'RFC 6598' },
  { network: '127.0.0.0/8', use: 'loopback', source: 'RFC 1122, section 3.2.1.3' },
  { network: '168.63.129.16/32', use: 'Azure services for virtual machines', source: 'Azure' },
  { network: '169.254.0.0/16', use: 'link-local, metadata of clouds', source: 'RFC 3927' },
  { network: '172.16.0.0/12', use: 'private', source: 'RFC 1918' },
  { network: '192.0.0.0/24', use: 'protocol assignments', source: 'RFC 6890' },
  { network: '192.0.2.0/24', use: 'documentation', source: 'RFC 5737' },
  { network: '192.31.196.0/24', use: 'AS112', source: 'RFC 7535' },
  { network: '192.52.193.0/24', use: 'multicast tunnels', source: 'RFC 7450' },
  { network: '192.88.99.0/24', use: '6to4 relays', source: 'RFC 7526' },
  { network: '192.168.0.0/16', use: 'private', source: 'RFC 1918' },
  { network: '192.175.48.0/24', use: 'AS112', source: 'RFC 7534' },
  { network: '198.18.0.0/15', use: 'benchmarks', source: 'RFC 2544' },
  { network: '198.51.100.0/24', use: 'documentation', source: 'RFC 5737' },
  { network: '203.0.113.0/24', use: 'documentation', source: 'RFC 5737' },
  { network: '224.0.0.0/4', use: 'multicast', source: 'RFC 5771' },
  { network: '255.255.255.255/32', use: 'broadcast', source: 'RFC 919' },
  { network: '240.0.0.0/4', use: 'reserved', source: 'RFC 1112' },

  { network: '::/128', use: 'unspecified', source: 'RFC 4291' },
  { network: '::1/128', use: 'loopback', source: 'RFC 4291' },
  { network: '::/96', use: 'IPv4 inside, compatible', source: 'RFC 4291, section 2.5.5.1' },
  { network: '::ffff:0:0/96', use: 'IPv4 inside, mapped', source: 'RFC 4291, section 2.5.5.2' },
  { network: '::ffff:0:0:0/96', use: 'IPv4 inside, translated', source: 'RFC 2765' },
  { network: '64:ff9b::/96', use: 'IPv4 inside, NAT64', source: 'RFC 6052' },
  { network: '64:ff9b:1::/48', use: 'IPv4 inside, local NAT64', source: 'RFC 8215' },
  { network: '100::/64', use: 'discarded', source: 'RFC 6666' },
  { network: '100:0:0:1::/64', use: 'placeholder', source: 'RFC 9780' },
  { network: '2001::/32', use: 'IPv4 inside, Teredo', source: 'RFC 4380' },
  { network: '2001::/23', use: 'protocol assignments', source: 'RFC 2928' },
  { network: '2001:db8::/32', use: 'documentation', source: 'RFC 3849' },
  { network: '2002::/16', use: 'IPv4 inside, 6to4', source: 'RFC 3056' },
  { network: '2620:4f:8000::/48', use: 'AS112', source: 'RFC 7534' },
  { network: '3fff::/20', use: 'documentation', source: 'RFC 9637' },
  { network: '5f00::/16', use: 'segment routing', source: 'RFC 9602' },
  { network: 'fc00::/7', use: 'private', source: 'RFC 4193' },
  { network: 'fe80::/10', use: 'link-local', source: 'RFC 4291' },
  { network: 'fec0::/10', use: 'formerly private', source: 'RFC 3879' },
  { network: 'ff00::/8', use: 'multicast', source: 'RFC 4291' },
];

/** The IPv6 addresses that are assigned to networks. Others have a special or future use. */
const globalUnicast: SpecialRange = {
  network: '2000::/3',
  use: 'not assigned',
  source: 'RFC 4291, section 2.4',
};

const networks = specialRanges.map((range) => ({
  range,
  cidr: ipaddr.parseCIDR(range.network),
}));
const unicast = ipaddr.parseCIDR(globalUnicast.network);

/** @param address an unreadable one, such as with a zone, counts as link-local @returns undefined for public ones */
export const specialUse = (address: string): string | undefined => {
  const parsed = read(address);
  if (!parsed) return 'link-local';
  const special = networks.find(({ cidr: [base, bits] }) => isWithin(parsed, base, bits));
  if (special) return special.range.use;
  const isGiven = parsed.kind() === 'ipv4' || isWithin(parsed, ...unicast);
  return isGiven ? undefined : globalUnicast.use;
};

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** Refuses short and octal forms, which URLs and resolvers never produce. */
const read = (address: string): Address | undefined => {
  if (ipaddr.IPv4.isValidFourPartDecimal(address)) return ipaddr.IPv4.parse(address);
  const isPlain = !address.includes('%') && ipaddr.IPv6.isValid(address);
  return isPlain ? ipaddr.IPv6.parse(address) : undefined;
};

const isWithin = (address: Address, base: Address, bits: number): boolean =>
  address.kind() === base.kind() && address.match(base, bits);

/** 127.0.0.0/8 and `::1`, but no IPv6 address that contains an IPv4 address. */
export const isLoopback = (address: string): boolean => specialUse(address) === 'loopback';

export const plainAddress = (address: string): string => read(address)?.toString() ?? address;

export interface DestinationRules {
  /** For tests and labs only: allows receivers on this machine, plain HTTP, and names below `.test`. */
  readonly allowsThisMachine: boolean;
}

export interface Destination {
  readonly protocol: 'https:' | 'http:';
  readonly host: string;
  readonly isAddress: boolean;
  readonly port: number;
  readonly path: string;
  readonly url: string;
}

export type ReadDestination =
  | { readonly kind: 'usable'; readonly destination: Destination }
  | { readonly kind: 'refused'; readonly explanation: string };

export const longestUrl = 2000;
/** In A-labels, without the final dot (RFC 1035, section 2.3.4). */
const longest = { name: 253, label: 63 } as const;

/** The URL parser normalises IP addresses: `0x7f.1`, `2130706433` and `127.0.0.1` are the same. */
export const readDestination = (text: string, rules: DestinationRules): ReadDestination => {
  if (text.length > longestUrl) {
    return refused(`An address has at most ${longestUrl} characters.`);
  }
  const url = URL.parse(text);
  if (!url)
    return refused('Enter an address that begins with https://, like https://example.com/hooks.');
  const destination = destinationOf(url);
  const fault = faults.find(({ isBroken }) => isBroken({ url, destination, rules }));
  return fault ? refused(fault.explanation(destination)) : { kind: 'usable', destination };
};

const refused = (explanation: string): ReadDestination => ({ kind: 'refused', explanation });

const destinationOf = (url: URL): Destination => {
  const host = url.hostname.replace(/^\[|\]$|\.$/g, '');
  const protocol = url.protocol === 'http:' ? 'http:' : 'https:';
  const path = `${url.pathname}${url.search}`;
  return {
    protocol,
    host,
    path,
    isAddress: url.hostname.startsWith('[') || /^[\d.]+$/.test(host),
    port: url.port === '' ? usualPorts[protocol] : Number(url.port),
    // Concatenated, because resolving a path that starts with // would change the host.
    url: `${protocol}//${url.host}${path}`,
  };
};

const usualPorts = { 'https:': 443, 'http:': 80 } as const;

interface Candidate {
  readonly url: URL;
  readonly destination: Destination;
  readonly rules: DestinationRules;
}

interface Fault {
  readonly isBroken: (candidate: Candidate) => boolean;
  readonly explanation: (destination: Destination) => string;
}

const faults: readonly Fault[] = [
  {
    isBroken: ({ url, rules }) =>
      url.protocol !== 'https:' && !(url.protocol === 'http:' && rules.allowsThisMachine),
    explanation: () =>
      'Enter an address that begins with https://, like https://example.com/hooks.',
  },
  {
    isBroken: ({ url }) => url.username !== '' || url.password !== '',
    explanation: () =>
      'Leave user and password out of the address: the signature proves that the call is from us.',
  },
  {
    isBroken: ({ destination }) => !isAllowedPort(destination),
    explanation: ({ protocol }) =>
      `Webhooks ${protocol === 'https:' ? '' : 'over plain HTTP '}go to port ${usualPorts[protocol]}, or to a port from 1024 on that no other service usually uses.`,
  },
  {
    isBroken: ({ destination, rules }) =>
      destination.isAddress && !mayBeSentTo(destination.host, rules),
    explanation: () =>
      'This is not a public address. Webhooks are sent to the public internet only.',
  },
  {
    isBroken: ({ destination }) => !destination.isAddress && isTooLong(destination.host),
    explanation: () =>
      `The name in an address has at most ${longest.name} characters, and at most ${longest.label} between two dots.`,
  },
  {
    isBroken: ({ destination, rules }) =>
      !destination.isAddress && isPrivateName(destination.host, rules),
    explanation: () => 'This name is not in public DNS. Enter the public name of your receiver.',
  },
];

export const mayBeSentTo = (address: string, { allowsThisMachine }: DestinationRules): boolean =>
  specialUse(address) === undefined || (allowsThisMachine && isLoopback(address));

const isTooLong = (host: string): boolean =>
  host.length > longest.name || host.split('.').some(({ length }) => length > longest.label);

/** RFC 6761, RFC 6762, RFC 7686, RFC 8375, RFC 9476; `internal` is ICANN's for private use. */
const privateName = /\.(localhost|local|internal|home\.arpa|onion|alt)$/;

const isPrivateName = (host: string, { allowsThisMachine }: DestinationRules): boolean =>
  host.split('.').length < 2 ||
  host.split('.').includes('') ||
  privateName.test(host) ||
  (!allowsThisMachine && host.endsWith('.test'));

/** Ports that browsers block (Fetch standard, "port blocking"), and servers that often have no password. */
export const blockedPorts: readonly number[] = [
  ...[1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566],
  ...[6665, 6666, 6667, 6668, 6669, 6679, 6697, 10_080],
  ...[2375, 2376, 2379, 2380, 3306, 5432, 6379, 9200, 9300, 10_250, 11_211, 26_379, 27_017],
];

const isAllowedPort = ({ protocol, port }: Destination): boolean =>
  port === usualPorts[protocol] || (port >= 1024 && !blockedPorts.includes(port));
