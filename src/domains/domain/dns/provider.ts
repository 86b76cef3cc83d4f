import type { DnsZone } from './facts.ts';
import { providers, type DnsProvider } from './providers.ts';
import type { DnsRecord } from './records.ts';

/** A zone at a provider that we know. */
export interface HostedZone {
  readonly zone: string;
  readonly provider: DnsProvider;
}

/**
 * Where the records of a domain are edited, as far as its name servers say. Undefined where we do not know all of them,
 * such as those that a provider lets its customers name, and where they belong to several providers.
 */
export const hostedZone = (
  zone: DnsZone | undefined,
  registrableDomain: string,
): HostedZone | undefined => {
  if (!zone || !isWithin(zone.name, registrableDomain)) return undefined;
  const [provider, ...others] = zone.nameServers.map(providerOf);
  return provider && others.every((one) => one === provider)
    ? { zone: zone.name, provider }
    : undefined;
};

const providerOf = (nameServer: string): DnsProvider | undefined =>
  providers.find(({ nameServers }) => nameServers.some((one) => isWithin(nameServer, one)));

/** Whole labels alone: `evil-example.com` is not within `example.com`. */
const isWithin = (name: string, parent: string): boolean =>
  name === parent || name.endsWith(`.${parent}`);

/** What to type for a record at a provider. */
export interface FilledForm {
  /** Empty: the field is left empty. Undefined: we do not know its form. */
  readonly name: string | undefined;
  readonly value: string;
  /** Its type as the provider names it, where that is another. */
  readonly type: 'ALIAS' | 'CNAME' | 'none' | undefined;
}

export const filledForm = (
  { type, fqdn, value }: Pick<DnsRecord, 'type' | 'fqdn' | 'value'>,
  { zone, provider }: HostedZone,
): FilledForm => {
  const isHostName = type !== 'TXT';
  return {
    name: nameAt(fqdn, zone, provider),
    value: isHostName && provider.valueField === 'dotted' ? `${value}.` : value,
    type: type === 'ALIAS' ? provider.apexType : undefined,
  };
};

const nameAt = (
  fqdn: string,
  zone: string,
  { nameField, apexField }: DnsProvider,
): string | undefined => {
  if (fqdn === zone) return apexField === 'empty' ? '' : apexField;
  return nameField && isWithin(fqdn, zone) ? fqdn.slice(0, -zone.length - 1) : undefined;
};
