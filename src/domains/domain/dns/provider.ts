import { isWithin } from '../names/hostname.ts';
import { type DnsZone, isInNetwork } from './facts.ts';
import type { DnsRecord } from './records.ts';

export interface HostedZone {
  readonly zone: string;
  readonly provider: DnsProvider;
}

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

export interface FilledForm {
  /** Empty: leave the field empty. Undefined: unknown form. */
  readonly name: string | undefined;
  readonly value: string;
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

export interface DnsProvider {
  readonly name: string;
  readonly nameServers: readonly string[];
  readonly nameField?: 'relative';
  readonly apexField?: '@' | 'empty';
  /** The record type that points the zone itself to another name; `none`: not supported. */
  readonly apexType?: 'ALIAS' | 'CNAME' | 'none';
  readonly withoutProxy?: string;
  /** Values that are host names need a final dot; otherwise the form appends the zone. */
  readonly valueField?: 'dotted';
  readonly page?: string;
}

const ofRoute53 = Array.from({ length: 64 }, (_, at) => String(at).padStart(2, '0')).flatMap((at) =>
  ['com', 'net', 'org', 'co.uk'].map((end) => `awsdns-${at}.${end}`),
);

/** Each statement was read at the address above its provider on 23 November 2026. */
export const providers: readonly DnsProvider[] = [
  // https://developers.cloudflare.com/dns/proxy-status/
  // https://developers.cloudflare.com/dns/cname-flattening/set-up-cname-flattening
  {
    name: 'Cloudflare',
    nameServers: ['ns.cloudflare.com'],
    nameField: 'relative',
    apexField: '@',
    apexType: 'CNAME',
    withoutProxy: 'Set "Proxy status" to "DNS only"',
    page: 'https://dash.cloudflare.com/?to=/:account/:zone/dns/records',
  },
  // https://learn.microsoft.com/en-us/microsoft-365/admin/dns/create-dns-records-at-godaddy
  {
    name: 'GoDaddy',
    nameServers: ['domaincontrol.com'],
    nameField: 'relative',
    apexField: '@',
    page: 'https://account.godaddy.com/products/',
  },
  // https://www.namecheap.com/support/knowledgebase/article.aspx/9646/10/how-can-i-set-up-a-cname-record-for-my-domain
  {
    name: 'Namecheap',
    nameServers: ['registrar-servers.com'],
    nameField: 'relative',
    apexField: '@',
  },
  // https://learn.microsoft.com/en-us/microsoft-365/admin/dns/create-dns-records-at-aws
  // https://docs.aws.amazon.com/Route53/latest/DeveloperGuide/resource-record-sets-choosing-alias-non-alias.html
  {
    name: 'Amazon Route 53',
    nameServers: ofRoute53,
    nameField: 'relative',
    apexField: 'empty',
    apexType: 'none',
    valueField: 'dotted',
    page: 'https://console.aws.amazon.com/route53/home',
  },
  {
    // Domains from Google Domains kept these name servers at Squarespace.
    name: 'Google Cloud DNS or Squarespace',
    nameServers: ['googledomains.com'],
  },
  // https://www.ionos.com/help/domains/configuring-cname-records-for-subdomains/configuring-a-cname-record-for-a-subdomain
  {
    name: 'IONOS',
    nameServers: ['ui-dns.com', 'ui-dns.org', 'ui-dns.de', 'ui-dns.biz'],
    nameField: 'relative',
  },
  // https://github.com/ovh/docs/blob/develop/pages/web_cloud/domains/dns_zone_edit/guide.en-gb.md
  {
    name: 'OVHcloud',
    nameServers: ['ovh.net', 'anycast.me'],
    nameField: 'relative',
    apexType: 'none',
    valueField: 'dotted',
  },
  // https://docs.gandi.net/fr/noms_domaine/operations_courantes/enregistrements_dns.html
  {
    name: 'Gandi',
    nameServers: ['gandi.net'],
    nameField: 'relative',
    apexField: '@',
    valueField: 'dotted',
  },
  // https://docs.hetzner.com/networking/dns/faq/records
  {
    name: 'Hetzner',
    nameServers: ['ns.hetzner.com', 'ns.hetzner.de'],
    nameField: 'relative',
    apexField: '@',
    valueField: 'dotted',
  },
  // https://www.strato.de/faq/domains/so-aendern-sie-den-cname-eintrag-fuer-ihre-subdomain/
  // https://www.strato.de/faq/domains/was-ist-der-txt-record-und-wie-kann-ich-ihn-verwenden/
  {
    name: 'STRATO',
    nameServers: ['rzone.de'],
    nameField: 'relative',
    valueField: 'dotted',
  },
  { name: 'Squarespace', nameServers: ['squarespacedns.com'] },
  // https://github.com/digitalocean/openapi/blob/main/specification/resources/domains/models/domain_record.yml
  // https://github.com/digitalocean/terraform-provider-digitalocean/blob/main/docs/resources/record.md
  {
    name: 'DigitalOcean',
    nameServers: ['digitalocean.com'],
    nameField: 'relative',
    apexField: '@',
    apexType: 'none',
  },
  // https://github.com/vercel/vercel/blob/main/packages/cli/src/commands/dns/command.ts
  {
    name: 'Vercel',
    nameServers: ['vercel-dns.com'],
    nameField: 'relative',
    apexField: '@',
    apexType: 'ALIAS',
  },
  // Netlify hosts its zones at NS1.
  { name: 'Netlify or NS1', nameServers: ['nsone.net'] },
  // https://learn.microsoft.com/en-us/microsoft-365/admin/dns/create-dns-records-at-hover
  {
    name: 'Hover',
    nameServers: ['hover.com'],
    nameField: 'relative',
    apexField: '@',
    page: 'https://www.hover.com/domains',
  },
  // https://github.com/qdm12/ddns-updater/blob/master/docs/porkbun.md
  {
    name: 'Porkbun',
    nameServers: ['ns.porkbun.com'],
    apexType: 'ALIAS',
    page: 'https://kb.porkbun.com/article/231-how-to-add-dns-records-on-porkbun',
  },
  // https://learn.microsoft.com/en-us/microsoft-365/admin/dns/create-dns-records-at-name-com
  {
    name: 'name.com',
    nameServers: ['name.com'],
    nameField: 'relative',
    apexField: 'empty',
    page: 'https://www.name.com/account/domain',
  },
  // https://learn.microsoft.com/en-us/microsoft-365/admin/dns/create-dns-records-at-wix
  {
    name: 'Wix',
    nameServers: ['wixdns.net'],
    nameField: 'relative',
    apexField: 'empty',
  },
  // https://learn.microsoft.com/en-us/azure/dns/dns-zones-records
  {
    name: 'Azure DNS',
    nameServers: ['azure-dns.com', 'azure-dns.net', 'azure-dns.org', 'azure-dns.info'],
    nameField: 'relative',
    apexField: '@',
    apexType: 'none',
  },
  // https://support.dnsimple.com/articles/manage-cname-record/
  // https://support.dnsimple.com/articles/alias-record/
  {
    name: 'DNSimple',
    nameServers: [
      ...['dnsimple.com', 'dnsimple-edge.com', 'dnsimple-edge.net'],
      ...['dnsimple-edge.io', 'dnsimple-edge.org'],
    ],
    nameField: 'relative',
    apexField: 'empty',
    apexType: 'ALIAS',
  },
  // https://github.com/linode/docs/blob/develop/docs/products/networking/dns-manager/guides/cname-record/index.md
  {
    name: 'Linode',
    nameServers: ['linode.com'],
    nameField: 'relative',
    apexType: 'none',
  },
  { name: 'Bluehost', nameServers: ['bluehost.com'] },
  { name: 'Njalla', nameServers: ['njalla.no', 'njalla.in', 'njalla.fo'] },
];

/** From https://www.cloudflare.com/ips/. Fastly is recognised by name, because its addresses serve others too. */
const networks = [
  '173.245.48.0/20',
  '103.21.244.0/22',
  '103.22.200.0/22',
  '103.31.4.0/22',
  '141.101.64.0/18',
  '108.162.192.0/18',
  '190.93.240.0/20',
  '188.114.96.0/20',
  '197.234.240.0/22',
  '198.41.128.0/17',
  '162.158.0.0/15',
  '104.16.0.0/13',
  '104.24.0.0/14',
  '172.64.0.0/13',
  '131.0.72.0/22',
  '2400:cb00::/32',
  '2606:4700::/32',
  '2803:f800::/32',
  '2405:b500::/32',
  '2405:8100::/32',
  '2a06:98c0::/29',
  '2c0f:f248::/32',
];

const zones = ['cdn.cloudflare.net', 'fastly.net'];

export const isProxyAddress = (address: string): boolean =>
  networks.some((network) => isInNetwork(address, network));

export const isProxyName = (name: string): boolean =>
  zones.some((zone) => name.endsWith(`.${zone}`));
