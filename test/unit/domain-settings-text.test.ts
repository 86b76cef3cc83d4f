import { expect, test } from '@jest/globals';
import { readDomainSettings, writeDomainSettings } from '../../src/app/domain-settings-text.ts';

const document = {
  domains: {
    primary: 'shop.example.com',
    redirects: [{ from: 'www.example.com', to: 'shop.example.com', status: 308 }],
  },
} as const;

test.each(['yaml', 'json'] as const)('what is written as %s is read as it was', (format) => {
  const text = writeDomainSettings(document, format);
  expect(readDomainSettings(text)).toEqual(document.domains);
  // As a form of a browser sends it.
  expect(readDomainSettings(text.replaceAll('\n', '\r\n'))).toEqual(document.domains);
});

test.each([
  ['nothing', '', 'The shape has to be'],
  ['something unknown', 'domains: { primary: null, hosts: [] }', 'domains.hosts'],
  ['a status that is a text', 'domains: { redirects: [{ from: a, to: b, status: x }] }', 'status'],
  ['no YAML', 'domains: [', 'no YAML and no JSON'],
  ['references', 'a: &a [1]\ndomains: *a', 'no YAML and no JSON'],
  ['nesting without end', '['.repeat(50_000), 'no YAML and no JSON'],
  ['too much', '#'.repeat(200_000), 'at most 128 KiB'],
])('%s is refused, and it is said why', (_, text, why) => {
  expect(() => readDomainSettings(text)).toThrow(why);
});
