import { describe, expect, test } from '@jest/globals';
import { filledForm, hostedZone, providers } from '../../../src/domains/domain/dns/provider.ts';
import { reportOn } from '../../../src/domains/domain/dns/report.ts';
import { asked, expectation, rightCname } from '../../support/domains/known-dns.ts';

const zone = 'example.com';
const at = (...nameServers: readonly string[]) =>
  hostedZone({ name: zone, nameServers }, zone)?.provider.name;

test.each([
  ['ada.ns.cloudflare.com', 'Cloudflare'],
  ['ns07.domaincontrol.com', 'GoDaddy'],
  ['dns1.registrar-servers.com', 'Namecheap'],
  ['ns-2048.awsdns-64.com', undefined],
  ['ns-512.awsdns-00.net', 'Amazon Route 53'],
  ['ns-1600.awsdns-08.co.uk', 'Amazon Route 53'],
  ['ns-cloud-a1.googledomains.com', 'Google Cloud DNS or Squarespace'],
  ['ns1045.ui-dns.org', 'IONOS'],
  ['dns19.ovh.net', 'OVHcloud'],
  ['ns-15-a.gandi.net', 'Gandi'],
  ['helium.ns.hetzner.de', 'Hetzner'],
  ['docks10.rzone.de', 'STRATO'],
  ['nsd1.squarespacedns.com', 'Squarespace'],
  ['ns1.digitalocean.com', 'DigitalOcean'],
  ['ns1.vercel-dns.com', 'Vercel'],
  ['dns1.p01.nsone.net', 'Netlify or NS1'],
  ['ns1.hover.com', 'Hover'],
  ['curitiba.ns.porkbun.com', 'Porkbun'],
  ['ns2.bluehost.com', 'Bluehost'],
  ['2-can.njalla.in', 'Njalla'],
])('%s belongs to %s', (nameServer, name) => {
  expect(at(nameServer)).toBe(name);
});

describe('a provider is known by whole labels at the end of all name servers', () => {
  test.each([
    ['a name with the same ending', ['ns1.evil-hover.com']],
    ['a label with the same ending', ['ada.evil-ns.cloudflare.com']],
    ['a longer last label', ['ada.ns.cloudflare.com.evil.example']],
    ['a name above that of its name servers', ['cloudflare.com']],
    ['name servers named by the customer', ['ns1.shop.example', 'ns2.shop.example']],
    ['name servers of two providers', ['ns1.digitalocean.com', 'ns1.hover.com']],
    ['an additional unknown name server', ['ns1.hover.com', 'ns1.shop.example']],
    ['no name servers', []],
  ])('%s matches none', (_, nameServers) => {
    expect(at(...nameServers)).toBeUndefined();
  });

  test('each name server belongs to one provider', () => {
    const all = providers.flatMap(({ nameServers }) => nameServers);
    const doubled = all.filter((one) =>
      all.some((other) => other !== one && `.${one}`.endsWith(`.${other}`)),
    );
    expect(doubled).toEqual([]);
    expect(new Set(all).size).toBe(all.length);
  });
});

test('a zone above the registered domain does not identify its provider', () => {
  const nameServers = ['ns1.hover.com'];
  expect(hostedZone({ name: 'co.uk', nameServers }, 'shop.co.uk')).toBeUndefined();
  expect(hostedZone({ name: 'eu.shop.co.uk', nameServers }, 'shop.co.uk')?.zone).toBe(
    'eu.shop.co.uk',
  );
  expect(hostedZone(undefined, zone)).toBeUndefined();
});

const cname = { type: 'CNAME', fqdn: 'shop.example.com', value: 't.sites.test' } as const;
const alias = { type: 'ALIAS', fqdn: zone, value: 't.sites.test' } as const;
const txt = { type: 'TXT', fqdn: '_challenge.shop.example.com', value: 'a.b' } as const;
const formAt = (nameServer: string, record: Parameters<typeof filledForm>[0], name = zone) =>
  filledForm(record, hostedZone({ name, nameServers: [nameServer] }, zone)!);

describe('the name to enter at a provider', () => {
  test("is the name without the zone, or the provider's own symbol for the zone itself", () => {
    expect(formAt('ada.ns.cloudflare.com', cname)).toMatchObject({ name: 'shop' });
    expect(formAt('ada.ns.cloudflare.com', txt)).toMatchObject({ name: '_challenge.shop' });
    expect(formAt('ada.ns.cloudflare.com', alias)).toMatchObject({ name: '@', type: 'CNAME' });
    expect(formAt('ns-1.awsdns-01.com', alias)).toMatchObject({ name: '', type: 'none' });
  });

  test('is relative to a separate zone below the registered domain', () => {
    expect(formAt('ns1.hover.com', txt, 'shop.example.com').name).toBe('_challenge');
    expect(formAt('ns1.hover.com', cname, 'shop.example.com').name).toBe('@');
  });

  test('ends in a dot for a host name, but never for a text, if the provider requires it', () => {
    expect(formAt('oxygen.ns.hetzner.com', cname).value).toBe('t.sites.test.');
    expect(formAt('oxygen.ns.hetzner.com', txt).value).toBe('a.b');
    expect(formAt('ns1.hover.com', cname).value).toBe('t.sites.test');
  });

  test('is unknown if no source describes it', () => {
    expect(formAt('curitiba.ns.porkbun.com', cname).name).toBeUndefined();
    expect(formAt('ns10.ui-dns.de', alias)).toMatchObject({ name: undefined, type: undefined });
  });
});

test.each(providers)('$name has name servers, and its page is secure', ({ nameServers, page }) => {
  expect(nameServers.length).toBeGreaterThan(0);
  expect(page ?? 'https:').toMatch(/^https:/);
});

test('the report has the zone of the first resolver that knows it, with a limited number of name servers', () => {
  const nameServers = Array.from({ length: 40 }, (_, n) => `ns${n}.hover.com`);
  const report = reportOn(
    asked(rightCname, { ...rightCname, zone: { name: zone, nameServers } }, rightCname),
    expectation,
  );
  expect(report.zone).toEqual({ name: zone, nameServers: nameServers.slice(0, 16) });
  expect(reportOn(asked(rightCname), expectation)).not.toHaveProperty('zone');
});
