import { webhookInvalid } from '../notifications-error.ts';
import { readDestination, type DestinationRules } from './destination.ts';

/**
 * Its form, and an IP address in it; where a name leads is looked up, and checked, at each call.
 * @throws DomainError `webhook_invalid`
 */
export const checkedAddress = (text: string, rules: DestinationRules): string => {
  const read = readDestination(text.trim(), rules);
  if (read.kind === 'refused') throw webhookInvalid(read.explanation);
  return read.destination.url;
};

/** The host with its port, if that is not the usual one: what people may see of an address, which can be a secret. */
export const receiverOf = (address: string): string => new URL(address).host;

/** Without its port, because all ports of a host are the same machine. */
export const hostOf = (address: string): string => new URL(address).hostname;
