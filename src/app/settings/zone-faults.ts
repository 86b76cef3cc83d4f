import { when } from './config-safety.ts';

interface Zoned {
  readonly roles: readonly string[];
  readonly acmeDnsZone: string | undefined;
  readonly platformHost: string;
  readonly publicUrl: string;
}

/** What does not work with the zone of the DNS challenges, one fault each. */
export const zoneFaults = ({
  roles,
  acmeDnsZone: zone,
  platformHost,
  publicUrl,
}: Zoned): readonly string[] => {
  if (zone === undefined) {
    const needed =
      'ACME_DNS_ZONE: is required with the role dns, which answers for this zone alone';
    return when(roles.includes('dns'), needed);
  }
  const { hostname } = new URL(publicUrl);
  return [
    ...when(isWithin(platformHost, zone), hides('PLATFORM_HOST', platformHost)),
    ...when(isWithin(hostname, zone), hides('PUBLIC_URL', hostname)),
    ...when(
      isWithin(zone, platformHost) && zone !== platformHost,
      `ACME_DNS_ZONE: must not be in ${platformHost} (PLATFORM_HOST): a project could get the name of the zone or of its ` +
        'name server for its site. Use a zone beside it, like acme.shop.example for sites.shop.example',
    ),
  ];
};

const isWithin = (name: string, zone: string): boolean => `.${name}`.endsWith(`.${zone}`);

/** The zone has no addresses. */
const hides = (setting: string, name: string): string =>
  `ACME_DNS_ZONE: ${name} (${setting}) must not be in this zone: it holds DNS challenges alone, so nobody would find ` +
  'that name. Use a zone beside it, like acme.shop.example';
