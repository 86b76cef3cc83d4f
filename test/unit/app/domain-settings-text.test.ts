import { expect, jest, test } from '@jest/globals';
import { readDomainSettings, writeDomainSettings } from '../../../src/app/domain-settings/text.ts';

const document = {
  domains: {
    primary: 'shop.example.com',
    redirects: [{ from: 'www.example.com', to: 'shop.example.com', status: 308 }],
  },
} as const;

test.each(['yaml', 'json'] as const)('settings written as %s are read back unchanged', (format) => {
  const text = writeDomainSettings(document, format);
  expect(readDomainSettings(text)).toEqual(document.domains);
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
    'an unknown key',
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
    'more than the limit',
    redirects(...Array.from({ length: 7 }, () => '{ from: a }')),
    'And 2 more.',
  ],
  ['no YAML', 'domains: [', 'neither plain YAML nor JSON'],
  ['an anchor', 'a: &a [1]', 'Anchors (&) are not allowed (line 1, column 4).'],
  ['an alias', 'a: b\ndomains: *a', 'Aliases (*) are not allowed (line 2, column 10).'],
  ['a tag', 'a: !!str b', 'Tags such as !!str are not allowed (line 1, column 4).'],
  ['a directive', '%YAML 1.1\n---\na: b', 'Directives (%) are not allowed (line 1, column 1).'],
  ['a merge key', 'a:\n  <<: { b: c }', 'Merge keys (<<) are not allowed (line 2, column 3).'],
  ['a key after a question mark', '? a\n: b', 'Keys after a question mark are not allowed'],
  ['a list as a key', '[a]: b', 'neither plain YAML nor JSON'],
  ['two documents', 'a: b\n---\nc: d', 'More than one document is not allowed'],
  ['endless nesting', '['.repeat(10_000), 'More than 16 nested lists or objects'],
  ['endless nested lists on one line', '- '.repeat(8_000), 'More than 16 nested lists or objects'],
  ['endless nested objects on one line', 'a: '.repeat(5_000), 'Two values on one line'],
  ['a bracket that closes nothing', ']'.repeat(16_000), 'A bracket that closes nothing'],
  ['values side by side', '"a" "b"', 'Two values side by side'],
  ['too many values', 'a: b\n'.repeat(3_000), 'It has too many values'],
  ['too many characters', '#'.repeat(16 * 1024 + 1), 'at most 16 KiB'],
  ['too many bytes', '☃'.repeat(6_000), 'at most 16 KiB'],
])('%s is refused with the correct form', (_, text, why) => {
  expect(() => readDomainSettings(text)).toThrow(why);
});

test('error messages of a library do not reach the user', () => {
  const text = redirects('{ from: 1, too: b }');
  expect(() => readDomainSettings(text)).not.toThrow(/Invalid|Expected|received/);
});

test.each([
  'domains:\n  primary: |-\n    a.example\n  redirects: []\n',
  'domains:\n  primary: "a.\\\n    example" # the main one\n  redirects:\n    []\n',
  "{ 'domains': { 'primary': 'a.example' } }",
  '---\ndomains: { primary: a.example, redirects: [] }\n...\n',
  '\n# ours\n\ndomains:\n  primary: a.example',
])('other notations are accepted too: %j', (text) => {
  expect(readDomainSettings(text)).toEqual({ primary: 'a.example', redirects: [] });
});

test('16 KiB of redirects can be read', () => {
  const all = Array.from({ length: 200 }, (_, at) => ({
    from: `www-${String(at)}.example.com`,
    to: 'shop.example.com',
    status: 308 as const,
  }));
  const text = writeDomainSettings({ domains: { primary: null, redirects: all } }, 'yaml');
  expect(text.length).toBeGreaterThan(14_000);
  expect(readDomainSettings(text).redirects).toEqual(all);
});

test('no input is printed', () => {
  const warnings: unknown[] = [];
  const spy = jest.spyOn(process, 'emitWarning').mockImplementation((warning: unknown) => {
    warnings.push(warning);
  });
  const texts = [
    '!a b',
    '!<a> b',
    '%FOO bar\n---\na',
    '? [a]\n: b',
    '{[a]: b}',
    '!a '.repeat(5_000),
  ];
  for (const text of texts) expect(() => readDomainSettings(text)).toThrow();
  spy.mockRestore();
  expect(warnings).toEqual([]);
});
