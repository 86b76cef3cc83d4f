import type { DnsProvider } from '../../src/domains/domain/dns/provider.ts';

const unknown = '–';

const ofZone = ({ apexField, apexType }: DnsProvider): string => {
  const name = { '@': '`@`', empty: 'left empty' };
  const known = [
    ...(apexField ? [`name ${name[apexField]}`] : []),
    ...(apexType ? [apexType === 'none' ? 'no ALIAS' : `type ${apexType}`] : []),
  ];
  return known.join(', ') || unknown;
};

/** What is known of one provider, and from where. */
export const providerRow = (provider: DnsProvider): readonly string[] => {
  const { name, nameField, valueField, sources = [] } = provider;
  return [
    name,
    nameField ? 'without the domain' : unknown,
    ofZone(provider),
    valueField ? 'with a dot at the end' : unknown,
    sources.map(({ url, readOn }) => `[${new URL(url).host}](${url}), ${readOn}`).join('; ') ||
      unknown,
  ];
};
