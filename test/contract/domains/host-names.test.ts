import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { TldtsHostNames } from '../../../src/adapters/system/tldts-host-names.ts';
import { cleanName, parseHostname } from '../../../src/domains/domain/names/hostname.ts';
import { anyCharacter } from '../../support/seeded-random.ts';

const names = new TldtsHostNames();
const settings = { platformHost: 'sites.animal-store.test', allowTestDomains: true };
const parse = (raw: string) => parseHostname(raw, (name) => names.read(name), settings);

describe('the registrable domain of', () => {
  test.each([
    ['example.com', 'example.com'],
    ['a.b.example.com', 'example.com'],
    ['www.example.co.uk', 'example.co.uk'],
    ['www.example.gov.uk', 'example.gov.uk'],
    ['a.k12.ca.us', 'a.k12.ca.us'],
    ['www.ck', 'www.ck'],
    ['shop.customer.test', 'customer.test'],
    ['shop.birds.github.io', 'birds.github.io'],
    ['bücher.example.de', 'example.de'],
    ['www.bücher.de', 'xn--bcher-kva.de'],
    ['www.example.co.nz.', 'example.co.nz'],
  ])('%s is %s', (name, registrableDomain) => {
    expect(parse(name)).toMatchObject({ registrableDomain });
  });
});

describe('all spellings of a name are one host', () => {
  test.each([
    ['Bücher.DE', 'bücher.de'],
    ['bu\u0308cher.de', 'bücher.de'],
    ['xn--bcher-kva.de', 'bücher.de'],
    ['XN--BCHER-KVA.de.', 'bücher.de'],
    ['ｂücher。ｄｅ', 'bücher.de'],
  ])('%s', (name, unicode) => {
    expect(parse(name)).toMatchObject({ host: 'xn--bcher-kva.de', unicode, isApex: true });
  });

  test('similar-looking letters of another script make a different name', () => {
    const { host, unicode } = parse('pаypal.com');
    expect({ host, unicode }).toEqual({ host: 'xn--pypal-4ve.com', unicode: 'pаypal.com' });
  });

  test('ß is not turned into ss, and joiners stay where a script needs them', () => {
    expect(parse('straße.de').host).toBe('xn--strae-oqa.de');
    expect(parse('نامه‌ای.com').host).toBe('xn--mgba3gch31f060k.com');
  });
});

describe('these names are refused:', () => {
  test.each([
    ['com', 'public_suffix'],
    ['co.uk', 'public_suffix'],
    ['github.io', 'public_suffix'],
    ['anything.ck', 'public_suffix'],
    ['test', 'public_suffix'],
    ['shop.notatld', 'domain_name_invalid'],
    ['notatld', 'domain_name_invalid'],
    ['bücher.straße', 'domain_name_invalid'],
    ['localhost', 'name_reserved'],
    ['router.home.arpa', 'name_reserved'],
    ['abc.onion', 'name_reserved'],
    ['example', 'name_reserved'],
    ['birds.sites.animal-store.test', 'name_reserved'],
    ['Sites.Animal-Store.test', 'name_reserved'],
    ['192.0.2.1', 'ip_literal'],
    ['0x7f.1', 'ip_literal'],
    ['０x7f.1', 'ip_literal'],
    ['2130706433', 'ip_literal'],
    ['1.2.3', 'ip_literal'],
    ['1.2.3.4.5', 'ip_literal'],
    ['::1', 'ip_literal'],
    ['[::1]', 'ip_literal'],
    ['fe80::1%eth0', 'ip_literal'],
    ['::ffff:10.0.0.1', 'ip_literal'],
    ['*.example.com', 'wildcard_unsupported'],
    [`${'ü'.repeat(60)}.de`, 'name_too_long'],
    ['xn--a.com', 'domain_name_invalid'],
    ['xn--99999999.com', 'domain_name_invalid'],
    ['xn--xn--bcher-kva-abc.com', 'domain_name_invalid'],
    ['r3---sn.example.com', 'domain_name_invalid'],
    ['a\u200bb.com', 'domain_name_invalid'],
    ['a\u200db.com', 'domain_name_invalid'],
    ['\u202ea.com', 'domain_name_invalid'],
    ['a\u0000.com', 'domain_name_invalid'],
    ['x%2ecom.de', 'domain_name_invalid'],
    ['a b.com', 'domain_name_invalid'],
    ['https://example.com', 'domain_name_invalid'],
    ['example.com:443', 'domain_name_invalid'],
    ['x\\y.com', 'domain_name_invalid'],
  ])('%j', (name, code) => {
    expect(() => parse(name)).toThrow(expect.objectContaining({ name: 'DomainError', code }));
  });
});

test('reading a name never throws, and reading the result again changes nothing', () => {
  const text = fc.oneof(fc.string({ unit: anyCharacter }), fc.domain(), fc.ipV4(), fc.ipV6());
  fc.assert(
    fc.property(text, (raw) => {
      const { ascii, unicode } = names.read(cleanName(raw));
      expect(names.read(ascii).ascii).toBe(ascii);
      expect(typeof unicode).toBe('string');
    }),
  );
});

describe('a name that an error suggests', () => {
  const piece = fc.constantFrom(
    ...[
      'http://',
      'https://',
      '//',
      'me:secret@',
      'me@',
      '[',
      ']',
      ':80',
      ':',
      '/',
      '/a b',
      '?x',
      '#x',
    ],
    ...['shop', 'example', 'foo bar', 'bücher', '-a', 'my_shop', 'xn--x', '1', 'a'.repeat(64), '*'],
    ...[
      '.',
      '..',
      '.com',
      '.co.uk',
      '.ck',
      '.kawasaki.jp',
      '.test',
      '.nope',
      '.local',
      'github.io',
    ],
  );
  const typed = fc.array(fc.oneof(piece, anyCharacter), { minLength: 1, maxLength: 6 });

  test('can be added', () => {
    fc.assert(
      fc.property(typed, (pieces) => {
        const said = refusalOf(pieces.join('')).replace(quotedAtStart, '');
        const [, suggested] = /(?:: |such as )(.*?)\.?$/su.exec(said) ?? [];
        if (suggested !== undefined) expect(refusalOf(suggested)).toBe('');
      }),
      { numRuns: 3000, examples: [[[':', ' ', '\0']]] },
    );
  });

  test.each([
    ['http://foo bar', 'such as shop.example.com'],
    ['http://foo.com bar/x', 'such as shop.example.com'],
    ['https://Shop.example.com/a', 'name: shop.example.com'],
    ['ck', 'such as shop.example.ck'],
    ['co.uk', 'such as example.co.uk'],
  ])('after "%s" is valid', (raw, end) => {
    expect(refusalOf(raw).endsWith(end)).toBe(true);
  });
});

/** The typed text may itself look like the end of an advice. */
const quotedAtStart = /^".*"/su;

/** The error message for a refused name; '' for an accepted one. */
const refusalOf = (raw: string): string => {
  try {
    parse(raw);
    return '';
  } catch (error) {
    return (error as Error).message;
  }
};
