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

const redirects = (...all: readonly string[]) => `domains: { redirects: [${all.join(', ')}] }`;

test.each([
  ['nothing', '', 'The configuration must be an object with the key domains.'],
  ['something else', 'hello', 'The configuration must be an object with the key domains.'],
  [
    'a key beside domains',
    '{ domains: {}, a: 1 }',
    'a is not a known key. The only key is domains.',
  ],
  [
    'a key that is unknown',
    'domains: { primary: null, hosts: [] }',
    'domains.hosts is not a known key. The keys are primary and redirects.',
  ],
  [
    'a redirect without a target',
    redirects('{ from: a, to: b }', '{ from: a }'),
    'domains.redirects[1].to is missing. It must be a domain of this project, or an address such as https://example.com/shop.',
  ],
  [
    'a status that is a text',
    redirects('{ from: a, to: b, status: x }'),
    'domains.redirects[0].status must be 301, 302, 307 or 308.',
  ],
  [
    'a redirect that is a text',
    redirects('a'),
    'domains.redirects[0] must be an object with the keys from, to and status.',
  ],
  [
    'more than one reads at once',
    redirects(...Array.from({ length: 7 }, () => '{ from: a }')),
    'And 2 more.',
  ],
  ['no YAML', 'domains: [', 'neither YAML nor JSON'],
  ['references', 'a: &a [1]\ndomains: *a', 'neither YAML nor JSON'],
  ['nesting without end', '['.repeat(50_000), 'neither YAML nor JSON'],
  ['too much', '#'.repeat(200_000), 'at most 128 KiB'],
])('%s is refused, and it is said what would be right', (_, text, why) => {
  expect(() => readDomainSettings(text)).toThrow(why);
});

test('no words of a library reach whoever imports', () => {
  const text = redirects('{ from: 1, too: b }');
  expect(() => readDomainSettings(text)).not.toThrow(/Invalid|Expected|received/);
});
