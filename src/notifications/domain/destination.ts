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

/** Azure's services for virtual machines: no registry lists this address, but it leads into the network of the machine. */
const azureServices = '168.63.129.16';

/** The IPv6 addresses that are assigned to networks (RFC 4291, section 2.4). Others have a special or future use. */
const assigned = ipaddr.parseCIDR('2000::/3');

/** False for all blocks of the IANA registries of special-purpose addresses (RFC 6890), and for unreadable addresses. */
export const isPublic = (address: string): boolean => {
  const parsed = read(address);
  if (parsed?.range() !== 'unicast' || address === azureServices) return false;
  return parsed.kind() === 'ipv4' || parsed.match(assigned);
};

/** Refuses short and octal forms, which URLs and resolvers never produce. */
const read = (address: string): ipaddr.IPv4 | ipaddr.IPv6 | undefined => {
  if (ipaddr.IPv4.isValidFourPartDecimal(address)) return ipaddr.IPv4.parse(address);
  const isPlain = !address.includes('%') && ipaddr.IPv6.isValid(address);
  return isPlain ? ipaddr.IPv6.parse(address) : undefined;
};

/** 127.0.0.0/8 and `::1`, but no IPv6 address that contains an IPv4 address. */
export const isLoopback = (address: string): boolean => read(address)?.range() === 'loopback';

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
  isPublic(address) || (allowsThisMachine && isLoopback(address));

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
