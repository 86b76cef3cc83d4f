import { Resolver } from 'node:dns/promises';
import { networkInterfaces } from 'node:os';
import {
  mayBeSentTo,
  type Destination,
  type DestinationRules,
  isLoopback,
  plainAddress,
} from '../../notifications/domain/destination.ts';
import { NotSent } from './not-sent.ts';

/** As `lookup` of node:net gives it. */
export interface CheckedAddress {
  readonly address: string;
  readonly family: 4 | 6;
}

export interface LookupSettings {
  /** As node:dns takes them: `ip:port`. */
  readonly dnsServers: readonly string[];
  readonly rules: DestinationRules;
  /** Addresses of this service that the machine does not know, as behind a load balancer. */
  readonly ownAddresses: readonly string[];
}

/** A name may have hundreds; a connection is tried with the first ones. */
const mostTried = 6;

/**
 * The addresses of a destination, all of them public. Asks the servers of the settings alone, not the system: it would
 * answer from /etc/hosts, from search domains and from name servers that know names of the inside.
 * @throws NotSent
 */
export const publicAddresses = async (
  { host, isAddress }: Destination,
  settings: LookupSettings,
  signal: AbortSignal,
): Promise<readonly CheckedAddress[]> => {
  const found = isAddress ? [host] : await resolved(host, settings.dnsServers, signal);
  const own = ownAddresses(settings);
  const isAllowed = (address: string): boolean =>
    mayBeSentTo(address, settings.rules) &&
    (isLoopback(address) || !own.has(plainAddress(address)));
  if (found.length === 0 || !found.every(isAllowed)) throw new NotSent('noPublicAddress', host);
  return found
    .slice(0, mostTried)
    .map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
};

const resolved = async (
  host: string,
  servers: readonly string[],
  signal: AbortSignal,
): Promise<readonly string[]> => {
  const resolver = new Resolver({ timeout: 2000, tries: 2 });
  resolver.setServers(servers);
  const cancel = (): void => {
    resolver.cancel();
  };
  signal.addEventListener('abort', cancel, { once: true });
  try {
    const answers = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
    const addresses = answers.flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
    const isUnknown = answers.some((one) => one.status === 'rejected' && !saysNone(one.reason));
    if (addresses.length === 0 && isUnknown) throw new NotSent('dnsFailed', host);
    return addresses;
  } finally {
    signal.removeEventListener('abort', cancel);
  }
};

/** There is no such name, or it has no address of that family. */
const saysNone = (error: unknown): boolean =>
  ['ENOTFOUND', 'ENODATA', 'EBADNAME'].includes((error as NodeJS.ErrnoException).code ?? '');

/** Whatever listens here may think that only this machine reaches it. */
const ownAddresses = ({ ownAddresses: told }: LookupSettings): ReadonlySet<string> => {
  const here = Object.values(networkInterfaces()).flatMap((all = []) => all);
  return new Set([...told, ...here.map(({ address }) => address)].map(plainAddress));
};
