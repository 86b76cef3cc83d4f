import { expect, test } from '@jest/globals';
import { recordsSection } from '../../../src/adapters/dashboard/domains/records.ts';
import { hostedZone } from '../../../src/domains/domain/dns/provider.ts';
import { recordsFor } from '../../../src/domains/domain/dns/records.ts';
import type { DescribedDomain } from '../../../src/domains/use-cases/show-domain.ts';
import { added } from '../../support/domains/known-domains.ts';

const zone = 'example.com';
const sectionAt = (nameServer: string, host = 'shop.example.com'): string => {
  const isApex = host === zone;
  const needs = { platformHost: 'sites.test', txtRequired: isApex };
  const domain: DescribedDomain = {
    role: { isPrimary: false, redirectsTo: undefined },
    domain: { ...added, host, unicodeHost: host, registrableDomain: zone },
    records: recordsFor({ host, registrableDomain: zone, isApex }, 't1', needs),
    hosted: hostedZone({ name: zone, nameServers: [nameServer] }, zone),
    ...{ bind: '', hints: [], problems: [], contest: undefined },
    ...{ health: undefined, nextAt: undefined },
  };
  return recordsSection(domain).toString();
};

test('the records are shown as the form of a known provider wants them, with its own hints', () => {
  const shown = sectionAt('ada.ns.cloudflare.com');
  expect(shown).toContain('belong to <strong>Cloudflare</strong>');
  expect(shown).toContain('data-copy="shop"');
  expect(shown).toContain('Set &quot;Proxy status&quot; to &quot;DNS only&quot;');
  expect(shown).toContain('rel="noopener noreferrer external"');
  expect(sectionAt('ada.ns.cloudflare.com', zone)).toContain('create a CNAME record');
});

test('values are copied with the dot that a provider needs', () => {
  expect(sectionAt('helium.ns.hetzner.de')).toContain('data-copy="t1.sites.test."');
  expect(sectionAt('helium.ns.hetzner.de')).toContain('a dot at its end');
  expect(sectionAt('ns1.hover.com')).toContain('data-copy="t1.sites.test"');
});

test('a field that has to stay empty has nothing to copy', () => {
  const shown = sectionAt('ns1.name.com', zone);
  expect(shown).toContain('leave it empty');
  expect(shown).not.toContain('data-copy="@"');
});

test('an apex at a provider without ALIAS records gets other advice', () => {
  expect(sectionAt('ns-1.awsdns-01.com', zone)).toContain('Use a name such as www');
});

test.each(['ns1.shop.example', 'ada.evil-ns.cloudflare.com'])(
  'of the provider behind %s nothing is said',
  (nameServer) => {
    const shown = sectionAt(nameServer);
    expect(shown).not.toContain('id="provider"');
    expect(shown).toContain('data-copy="shop"');
  },
);
