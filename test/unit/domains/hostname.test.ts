import { contestedBy } from '../../../src/domains/domain/attachment/contested-name.ts';
import { addDomain } from '../../../src/domains/domain/attachment/custom-domain.ts';
import {
  cleanName,
  parseHostname,
  shownHost,
  type NameFacts,
} from '../../../src/domains/domain/names/hostname.ts';
import { anyCharacter } from '../../support/seeded-random.ts';
import { admitted, draft, moment, start, verified } from '../../support/domains/known-domains.ts';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';

const settings = { platformHost: 'sites.test', allowTestDomains: false };

/** For a plain name below a suffix of one label. */
const factsOf = (name: string, known: Partial<NameFacts> = {}): NameFacts => {
  const labels = name.split('.');
  return {
    ascii: name,
    unicode: name,
    registrableDomain: labels.length > 1 ? labels.slice(-2).join('.') : undefined,
    isPublicSuffix: labels.length === 1,
    isSuffixKnown: true,
    isIp: false,
    ...known,
  };
};

const parse = (raw: string, known: Partial<NameFacts> = {}) =>
  parseHostname(raw, (name) => factsOf(name, name === cleanName(raw) ? known : {}), settings);

const refused = (code: string, advice: string | RegExp) =>
  expect.objectContaining({
    name: 'DomainError',
    code,
    message: expect.stringMatching(advice),
  });

test('a name is trimmed, lower-cased, and loses its final dot', () => {
  expect(cleanName(' Shop.Example.COM.\n')).toBe('shop.example.com');
  expect(cleanName('a..')).toBe('a.');
});

test('a name without a part before its registrable domain is refused', () => {
  expect(parse(' Shop.EU.Example.com. ')).toEqual({
    host: 'shop.eu.example.com',
    unicode: 'shop.eu.example.com',
    registrableDomain: 'example.com',
    labels: 'shop.eu',
    isApex: false,
  });
  expect(parse('example.com')).toMatchObject({ labels: '', isApex: true });
  const known = { registrableDomain: 'example.co.uk' };
  expect(parse('www.example.co.uk', known)).toMatchObject({ labels: 'www' });
});

test('a name in another script is stored as A-labels and shown with both', () => {
  const known = { ascii: 'xn--bcher-kva.de', registrableDomain: 'xn--bcher-kva.de' };
  const hostname = parse('Bücher.de', { ...known, unicode: 'bücher.de' });
  expect(hostname).toMatchObject({ host: 'xn--bcher-kva.de', unicode: 'bücher.de', isApex: true });
  expect(shownHost(hostname)).toBe('bücher.de (xn--bcher-kva.de)');
  expect(shownHost(parse('example.com'))).toBe('example.com');
});

describe('pasted text is refused with a suggestion', () => {
  test.each<[raw: string, code: string, advice: string | RegExp]>([
    ['', 'domain_name_invalid', 'Enter a domain name such as'],
    [' . ', 'domain_name_invalid', 'Enter a domain name such as'],
    ['https://Shop.example.com/a?b#c', 'domain_name_invalid', 'only the name: shop.example.com$'],
    ['http://me:secret@shop.example.com:8080', 'domain_name_invalid', 'name: shop.example.com$'],
    ['//shop.example.com', 'domain_name_invalid', 'only the name: shop.example.com$'],
    ['https://', 'domain_name_invalid', 'only the name, such as shop.example.com$'],
    ['http://foo bar', 'domain_name_invalid', 'only the name, such as shop.example.com$'],
    ['http://foo bar/', 'domain_name_invalid', 'only the name, such as shop.example.com$'],
    ['http://localhost:3000', 'domain_name_invalid', 'only the name, such as shop.example.com$'],
    ['me@gmail', 'domain_name_invalid', 'Enter a name, such as shop.example.com$'],
    ['shop.example.com:443', 'domain_name_invalid', 'Leave out the port: shop.example.com$'],
    ['shop.example.com/', 'domain_name_invalid', 'follows the name: shop.example.com$'],
    [
      'shop.example.com/de/index.html',
      'domain_name_invalid',
      'follows the name: shop.example.com$',
    ],
    ['shop.example.com\\x', 'domain_name_invalid', 'follows the name: shop.example.com$'],
    ['shop.example.com?x', 'domain_name_invalid', 'follows the name: shop.example.com$'],
    ['me@example.com', 'domain_name_invalid', 'email address. Enter a name: example.com$'],
    ['*.example.com', 'wildcard_unsupported', 'each name separately'],
    ['a*.example.com', 'wildcard_unsupported', 'each name separately'],
    ['my_shop.example.com', 'domain_name_invalid', 'hyphen instead'],
    ['shop example.com', 'domain_name_invalid', 'a character that domain names cannot have'],
    ['shop,example.com', 'domain_name_invalid', 'a character that domain names cannot have'],
    ['shop%2eexample.com', 'domain_name_invalid', 'a character that domain names cannot have'],
    ['shop\u200b.example.com', 'domain_name_invalid', 'invisible character'],
    ['shop\u00ad.example.com', 'domain_name_invalid', 'invisible character'],
    ['shop..example.com', 'domain_name_invalid', 'an extra dot'],
    ['.example.com', 'domain_name_invalid', 'an extra dot'],
    ['example.com..', 'domain_name_invalid', 'an extra dot'],
    ['-shop.example.com', 'domain_name_invalid', 'no hyphen at either end'],
    ['shop-.example.com', 'domain_name_invalid', 'no hyphen at either end'],
    ['ab--cd.example.com', 'domain_name_invalid', '"--"'],
    ['xn--99999999.com', 'domain_name_invalid', '"--"'],
    ['192.0.2.1', 'ip_literal', 'Enter a name and point it there'],
    ['192.0.2.1:80', 'ip_literal', 'is an IP address'],
    ['1.2.3.4.', 'ip_literal', 'is an IP address'],
    ['0x7f.1', 'ip_literal', 'is an IP address'],
    ['2130706433', 'ip_literal', 'is an IP address'],
    ['shop.0x1f', 'ip_literal', 'is an IP address'],
    ['[2001:db8::1]', 'ip_literal', 'is an IP address'],
    ['2001:db8::1', 'ip_literal', 'is an IP address'],
    ['sites.test', 'name_reserved', 'Names below sites.test are ours'],
    ['birds.sites.test', 'name_reserved', 'Names below sites.test are ours'],
    ['shop.example', 'name_reserved', 'does not exist on the internet'],
    ['shop.invalid', 'name_reserved', 'does not exist'],
    ['localhost', 'name_reserved', 'does not exist'],
    ['shop.localhost', 'name_reserved', 'does not exist'],
    ['printer.local', 'name_reserved', 'does not exist'],
    ['db.internal', 'name_reserved', 'does not exist'],
    ['router.home.arpa', 'name_reserved', 'does not exist'],
    ['abc.onion', 'name_reserved', 'does not exist'],
    ['shop.customer.test', 'name_reserved', 'does not exist'],
    ['com', 'public_suffix', 'such as example.com$'],
    [`${'a'.repeat(64)}.com`, 'name_too_long', 'at most 253 characters, and 63 between two dots'],
    [`${'abc.'.repeat(63)}com`, 'name_too_long', 'at most 253 characters'],
    ['https://' + 'x'.repeat(1_000), 'name_too_long', 'at most 253 characters'],
  ])('"%s"', (raw, code, advice) => {
    expect(() => parse(raw)).toThrow(refused(code, advice));
  });

  test('a suffix of more labels', () => {
    const known = { isPublicSuffix: true, registrableDomain: undefined };
    expect(() => parse('co.uk', known)).toThrow(refused('public_suffix', 'such as example.co.uk$'));
  });

  test('an unknown top-level domain', () => {
    const adding = () => parse('shop.notatld', { isSuffixKnown: false });
    expect(adding).toThrow(refused('domain_name_invalid', '".notatld" is not a known top-level'));
  });

  test('a name without a registrable domain', () => {
    const adding = () => parse('shop.example.com', { registrableDomain: undefined });
    expect(adding).toThrow(refused('public_suffix', 'Add one of yours'));
  });

  test('a name that IDNA does not allow', () => {
    expect(() => parse('a\u200cb.com', { ascii: '', unicode: '' })).toThrow(
      refused('domain_name_invalid', 'a character that domain names cannot have'),
    );
  });

  test('a name that programs read as an IP address', () => {
    expect(() => parse('０x7f.1', { ascii: '127.0.0.1', isIp: true })).toThrow(
      refused('ip_literal', 'is an IP address'),
    );
  });
});

test('names with labels of the greatest length are accepted', () => {
  const name = `${`${'a'.repeat(62)}.`.repeat(3)}${'a'.repeat(60)}.com`;
  expect(name).toHaveLength(253);
  expect(parse(name).host).toBe(name);
  expect(parse(`${'a'.repeat(63)}.com`).labels).toBe('');
});

test('names similar to the platform’s and the reserved ones are accepted', () => {
  for (const name of ['notsites.test.com', 'mylocalhost.com', 'local.com', 'example.org']) {
    expect(parse(name).host).toBe(name);
  }
});

test('names below "test" can be allowed', () => {
  const allowed = { ...settings, allowTestDomains: true };
  const name = 'shop.customer.test';
  const facts = factsOf(name, { isSuffixKnown: false });
  expect(parseHostname(name, () => facts, allowed)).toMatchObject({ labels: 'shop' });
  const ours = () => parseHostname('a.sites.test', factsOf, allowed);
  expect(ours).toThrow(refused('name_reserved', 'are ours'));
});

test('any input is either a host name or refused', () => {
  const url = fc.tuple(fc.webAuthority(), fc.constantFrom('', '/', '/a%20b?c#d'));
  const text = fc.oneof(
    fc.string({ unit: anyCharacter }),
    fc.domain(),
    url.map(([authority, rest]) => `https://${authority}${rest}`),
  );
  fc.assert(
    fc.property(text, (raw) => {
      try {
        expect(parse(raw).host).toMatch(/^([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)+[a-z0-9-]+$/);
      } catch (error) {
        expect(error).toMatchObject({ name: 'DomainError' });
      }
    }),
  );
});

const names = { host: 'xn--bcher-kva.test', unicode: 'bücher.test' };
const both = 'bücher.test (xn--bcher-kva.test)';

test('the refusal of a name that is already in the list shows its U-labels and A-labels', () => {
  const hostname = { ...draft.hostname, ...names };
  const attachedTo = { name: 'Books', isThisOne: true, isDeleted: false };
  const add = () => addDomain({ ...draft, hostname }, { ...admitted, attachedTo }, moment(start));
  expect(add).toThrow(both);
});

test('the refusal of a name that another account holds shows both too', () => {
  const holder = { ...verified, host: names.host, unicodeHost: names.unicode };
  expect(() => contestedBy(holder, { ...holder, id: 'dom_2' }, start)).toThrow(both);
});
