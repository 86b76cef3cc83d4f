import { isLoopback, specialUse } from './special-addresses.ts';

/** What a receiver may be. */
export interface DestinationRules {
  /** For tests and labs, never in production: receivers on this machine, plain HTTP, and names below `.test`. */
  readonly allowsThisMachine: boolean;
}

/** Where a webhook is sent to. */
export interface Destination {
  readonly protocol: 'https:' | 'http:';
  /** A name without a dot at its end, or an IP address without brackets. */
  readonly host: string;
  readonly isAddress: boolean;
  readonly port: number;
  /** With the query. */
  readonly path: string;
  /** As it is kept and shown: the usual form of what was written. */
  readonly url: string;
}

export type ReadDestination =
  | { readonly kind: 'usable'; readonly destination: Destination }
  | { readonly kind: 'refused'; readonly explanation: string };

/** Characters. */
export const longestUrl = 2000;
/** Octets (RFC 1035, section 2.3.4), without the dot at the end; of A-labels, each one a character. */
const longest = { name: 253, label: 63 } as const;

/**
 * Reads an address of a webhook. Browsers' rules for URLs apply, so every notation of an IP address comes out as the
 * same one: `0x7f.1`, `2130706433` and `127.0.0.1` are one address.
 */
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
    ...{ protocol, host, path },
    isAddress: url.hostname.startsWith('[') || /^[\d.]+$/.test(host),
    port: url.port === '' ? usualPorts[protocol] : Number(url.port),
    // Put together, not resolved: a path that begins with // would be read as another host.
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

/** The first one that is broken is told. */
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
      'Leave user and password out of the address: the signature proves that we call.',
  },
  {
    isBroken: ({ destination }) => !isAllowedPort(destination),
    explanation: ({ protocol }) =>
      `Webhooks ${protocol === 'https:' ? '' : 'over plain HTTP '}go to port ${usualPorts[protocol]}, or to a port from 1024 on that no other service is known for.`,
  },
  {
    isBroken: ({ destination, rules }) =>
      destination.isAddress && !mayBeSentTo(destination.host, rules),
    explanation: () => 'This is no public address. Webhooks are sent to the public internet only.',
  },
  {
    isBroken: ({ destination }) => !destination.isAddress && isTooLong(destination.host),
    explanation: () =>
      `The name in an address has at most ${longest.name} characters, and at most ${longest.label} between two dots.`,
  },
  {
    isBroken: ({ destination, rules }) =>
      !destination.isAddress && isPrivateName(destination.host, rules),
    explanation: () =>
      'This name is not in public DNS. Enter the name under which the internet reaches your receiver.',
  },
];

/** Whether a webhook may be sent to an IP address. */
export const mayBeSentTo = (address: string, { allowsThisMachine }: DestinationRules): boolean =>
  specialUse(address) === undefined || (allowsThisMachine && isLoopback(address));

const isTooLong = (host: string): boolean =>
  host.length > longest.name || host.split('.').some(({ length }) => length > longest.label);

/** RFC 6761, RFC 6762, RFC 7686, RFC 8375, RFC 9476; `internal` is ICANN's for private use. */
const privateName = /\.(localhost|local|internal|home\.arpa|onion|alt)$/;

/** Names that only machines nearby know: also all of one label. */
const isPrivateName = (host: string, { allowsThisMachine }: DestinationRules): boolean =>
  host.split('.').length < 2 ||
  host.split('.').includes('') ||
  privateName.test(host) ||
  (!allowsThisMachine && host.endsWith('.test'));

/**
 * From 1024 on: those that browsers block because other protocols use them (Fetch standard, "port blocking"), and
 * databases, caches and controllers that often listen without a password.
 */
export const blockedPorts: readonly number[] = [
  ...[1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566],
  ...[6665, 6666, 6667, 6668, 6669, 6679, 6697, 10_080],
  ...[2375, 2376, 2379, 2380, 3306, 5432, 6379, 9200, 9300, 10_250, 11_211, 26_379, 27_017],
];

const isAllowedPort = ({ protocol, port }: Destination): boolean =>
  port === usualPorts[protocol] || (port >= 1024 && !blockedPorts.includes(port));
