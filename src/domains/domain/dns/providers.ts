/** Where a fact comes from. */
interface Source {
  readonly url: string;
  /** The day on which we read it. */
  readonly readOn: string;
}

/** What is known of the forms of a DNS provider. What no source says is left out, and pages then say nothing of it. */
export interface DnsProvider {
  readonly name: string;
  /** Its name servers are these, or below these. */
  readonly nameServers: readonly string[];
  /** The name of a record is written without that of the zone. */
  readonly nameField?: 'relative';
  /** How the name of the zone itself is written. */
  readonly apexField?: '@' | 'empty';
  /** The type of the record that leads the zone itself to another name; `none`: it has no such type. */
  readonly apexType?: 'ALIAS' | 'CNAME' | 'none';
  /** How records are kept from being proxied, in the words of its form. */
  readonly withoutProxy?: string;
  /** A host name as a value needs a dot at its end, or the zone is added to it. */
  readonly valueField?: 'dotted';
  /** Where its records are edited. */
  readonly page?: string;
  readonly sources?: readonly Source[];
}

const readOn = '2026-11-23';
const from = (...urls: readonly string[]): readonly Source[] =>
  urls.map((url) => ({ url, readOn }));
/** Microsoft describes the forms of other providers. */
const byMicrosoft = (at: string): readonly Source[] =>
  from(`https://learn.microsoft.com/en-us/microsoft-365/admin/dns/create-dns-records-at-${at}`);

/** `awsdns-00.com` to `awsdns-63.co.uk` */
const ofRoute53 = Array.from({ length: 64 }, (_, at) => String(at).padStart(2, '0')).flatMap((at) =>
  ['com', 'net', 'org', 'co.uk'].map((end) => `awsdns-${at}.${end}`),
);

export const providers: readonly DnsProvider[] = [
  {
    ...{ name: 'Cloudflare', nameServers: ['ns.cloudflare.com'] },
    ...{ nameField: 'relative', apexField: '@', apexType: 'CNAME' },
    withoutProxy: 'Set "Proxy status" to "DNS only"',
    page: 'https://dash.cloudflare.com/?to=/:account/:zone/dns/records',
    sources: from(
      'https://developers.cloudflare.com/dns/proxy-status/',
      'https://developers.cloudflare.com/dns/cname-flattening/set-up-cname-flattening',
    ),
  },
  {
    ...{ name: 'GoDaddy', nameServers: ['domaincontrol.com'] },
    ...{ nameField: 'relative', apexField: '@' },
    page: 'https://account.godaddy.com/products/',
    sources: byMicrosoft('godaddy'),
  },
  {
    ...{ name: 'Namecheap', nameServers: ['registrar-servers.com'] },
    ...{ nameField: 'relative', apexField: '@' },
    sources: from(
      'https://www.namecheap.com/support/knowledgebase/article.aspx/9646/10/how-can-i-set-up-a-cname-record-for-my-domain',
    ),
  },
  {
    ...{ name: 'Amazon Route 53', nameServers: ofRoute53 },
    ...{ nameField: 'relative', apexField: 'empty', apexType: 'none', valueField: 'dotted' },
    page: 'https://console.aws.amazon.com/route53/home',
    sources: [
      ...byMicrosoft('aws'),
      ...from(
        'https://docs.aws.amazon.com/Route53/latest/DeveloperGuide/resource-record-sets-choosing-alias-non-alias.html',
      ),
    ],
  },
  {
    // Domains that came from Google Domains kept these name servers at Squarespace.
    ...{ name: 'Google Cloud DNS or Squarespace', nameServers: ['googledomains.com'] },
  },
  {
    ...{ name: 'IONOS', nameServers: ['ui-dns.com', 'ui-dns.org', 'ui-dns.de', 'ui-dns.biz'] },
    nameField: 'relative',
    sources: from(
      'https://www.ionos.com/help/domains/configuring-cname-records-for-subdomains/configuring-a-cname-record-for-a-subdomain',
    ),
  },
  {
    ...{ name: 'OVHcloud', nameServers: ['ovh.net', 'anycast.me'] },
    ...{ nameField: 'relative', apexType: 'none', valueField: 'dotted' },
    sources: from(
      'https://github.com/ovh/docs/blob/develop/pages/web_cloud/domains/dns_zone_edit/guide.en-gb.md',
    ),
  },
  {
    ...{ name: 'Gandi', nameServers: ['gandi.net'] },
    ...{ nameField: 'relative', apexField: '@', valueField: 'dotted' },
    sources: from(
      'https://docs.gandi.net/fr/noms_domaine/operations_courantes/enregistrements_dns.html',
    ),
  },
  {
    ...{ name: 'Hetzner', nameServers: ['ns.hetzner.com', 'ns.hetzner.de'] },
    ...{ nameField: 'relative', apexField: '@', valueField: 'dotted' },
    sources: from('https://docs.hetzner.com/networking/dns/faq/records'),
  },
  {
    ...{ name: 'STRATO', nameServers: ['rzone.de'] },
    ...{ nameField: 'relative', valueField: 'dotted' },
    sources: from(
      'https://www.strato.de/faq/domains/so-aendern-sie-den-cname-eintrag-fuer-ihre-subdomain/',
      'https://www.strato.de/faq/domains/was-ist-der-txt-record-und-wie-kann-ich-ihn-verwenden/',
    ),
  },
  { ...{ name: 'Squarespace', nameServers: ['squarespacedns.com'] } },
  {
    ...{ name: 'DigitalOcean', nameServers: ['digitalocean.com'] },
    ...{ nameField: 'relative', apexField: '@', apexType: 'none' },
    sources: from(
      'https://github.com/digitalocean/openapi/blob/main/specification/resources/domains/models/domain_record.yml',
      'https://github.com/digitalocean/terraform-provider-digitalocean/blob/main/docs/resources/record.md',
    ),
  },
  {
    ...{ name: 'Vercel', nameServers: ['vercel-dns.com'] },
    ...{ nameField: 'relative', apexField: '@', apexType: 'ALIAS' },
    sources: from(
      'https://github.com/vercel/vercel/blob/main/packages/cli/src/commands/dns/command.ts',
    ),
  },
  // Netlify has its zones at NS1.
  { ...{ name: 'Netlify or NS1', nameServers: ['nsone.net'] } },
  {
    ...{ name: 'Hover', nameServers: ['hover.com'] },
    ...{ nameField: 'relative', apexField: '@' },
    page: 'https://www.hover.com/domains',
    sources: byMicrosoft('hover'),
  },
  {
    ...{ name: 'Porkbun', nameServers: ['ns.porkbun.com'] },
    apexType: 'ALIAS',
    sources: from('https://github.com/qdm12/ddns-updater/blob/master/docs/porkbun.md'),
    page: 'https://kb.porkbun.com/article/231-how-to-add-dns-records-on-porkbun',
  },
  {
    ...{ name: 'name.com', nameServers: ['name.com'] },
    ...{ nameField: 'relative', apexField: 'empty' },
    page: 'https://www.name.com/account/domain',
    sources: byMicrosoft('name-com'),
  },
  {
    ...{ name: 'Wix', nameServers: ['wixdns.net'] },
    ...{ nameField: 'relative', apexField: 'empty' },
    sources: byMicrosoft('wix'),
  },
  {
    ...{ name: 'Azure DNS' },
    nameServers: ['azure-dns.com', 'azure-dns.net', 'azure-dns.org', 'azure-dns.info'],
    ...{ nameField: 'relative', apexField: '@', apexType: 'none' },
    sources: from('https://learn.microsoft.com/en-us/azure/dns/dns-zones-records'),
  },
  {
    name: 'DNSimple',
    nameServers: [
      ...['dnsimple.com', 'dnsimple-edge.com', 'dnsimple-edge.net'],
      ...['dnsimple-edge.io', 'dnsimple-edge.org'],
    ],
    ...{ nameField: 'relative', apexField: 'empty', apexType: 'ALIAS' },
    sources: from(
      'https://support.dnsimple.com/articles/manage-cname-record/',
      'https://support.dnsimple.com/articles/alias-record/',
    ),
  },
  {
    ...{ name: 'Linode', nameServers: ['linode.com'] },
    ...{ nameField: 'relative', apexType: 'none' },
    sources: from(
      'https://github.com/linode/docs/blob/develop/docs/products/networking/dns-manager/guides/cname-record/index.md',
    ),
  },
  { ...{ name: 'Bluehost', nameServers: ['bluehost.com'] } },
  { ...{ name: 'Njalla', nameServers: ['njalla.no', 'njalla.in', 'njalla.fo'] } },
];
