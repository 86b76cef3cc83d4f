import { expect, test } from '@jest/globals';
import { bindSnippet, recordHints, recordsFor } from '../../../src/domains/domain/dns/records.ts';

const needs = { platformHost: 'sites.test', txtRequired: false };
const subdomain = { host: 'shop.eu.example.com', registrableDomain: 'example.com', isApex: false };
const apex = { host: 'example.com', registrableDomain: 'example.com', isApex: true };

test('a subdomain needs a CNAME record to its own target, and can have a TXT record', () => {
  expect(recordsFor(subdomain, 't1', needs)).toEqual([
    {
      purpose: 'route',
      type: 'CNAME',
      name: 'shop.eu',
      fqdn: 'shop.eu.example.com',
      value: 't1.sites.test',
      ttl: 3600,
      required: true,
    },
    {
      purpose: 'ownership',
      type: 'TXT',
      name: '_animal-store-challenge.shop.eu',
      fqdn: '_animal-store-challenge.shop.eu.example.com',
      value: 'animal-store-verify=t1',
      ttl: 3600,
      required: false,
    },
  ]);
});

test('an apex needs an ALIAS record and the TXT record', () => {
  expect(recordsFor(apex, 't1', needs)).toMatchObject([
    { type: 'ALIAS', name: '@', fqdn: 'example.com', value: 't1.sites.test', required: true },
    { type: 'TXT', name: '_animal-store-challenge', required: true },
  ]);
});

test('a wildcard needs two CNAME records: one for its names and one for its proof', () => {
  const wildcard = { host: '*.shop.example.com', registrableDomain: 'example.com', isApex: false };
  const zone = { ...needs, txtRequired: true, acmeDnsZone: 'acme.test' };
  const all = recordsFor(wildcard, 't1', zone);
  expect(all).toMatchObject([
    { type: 'CNAME', name: '*.shop', fqdn: '*.shop.example.com', value: 't1.sites.test' },
    { type: 'CNAME', name: '_acme-challenge.shop', value: 't1.acme.test', required: true },
  ]);
  expect(bindSnippet(all, 'example.com')).toContain('*.shop 3600 IN CNAME t1.sites.test.');
  const below = { ...wildcard, host: '*.example.com' };
  expect(recordsFor(below, 't1', zone).map(({ name }) => name)).toEqual(['*', '_acme-challenge']);
  expect(recordHints(wildcard).join()).toContain('does not replace _acme-challenge.shop');
});

test('the TXT record is required where the report says so', () => {
  const [, txt] = recordsFor(subdomain, 't1', { ...needs, txtRequired: true });
  expect(txt?.required).toBe(true);
});

test('the records can be pasted into a zone file', () => {
  expect(bindSnippet(recordsFor(subdomain, 't1', needs), 'example.com')).toBe(
    [
      '$ORIGIN example.com.',
      'shop.eu 3600 IN CNAME t1.sites.test.',
      '_animal-store-challenge.shop.eu 3600 IN TXT "animal-store-verify=t1"',
      '',
    ].join('\n'),
  );
});

test('a zone file has no ALIAS, so that line is a comment', () => {
  const snippet = bindSnippet(recordsFor(apex, 't1', needs), 'example.com');
  expect(snippet).toContain('\n; @ 3600 IN ALIAS t1.sites.test. (ALIAS or ANAME)\n');
});

test('hints mention the 48 hours, the TTL and CAA, and ALIAS at an apex', () => {
  const hints = recordHints(subdomain).join('\n');
  for (const word of ['48 hours', 'TTL', 'CAA']) expect(hints).toContain(word);
  expect(hints).not.toContain('ALIAS');
  expect(recordHints(apex).join('\n')).toMatch(/ALIAS.* not every DNS provider/);
});
