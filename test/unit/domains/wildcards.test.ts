import { live } from '../../support/domains/known-domains.ts';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  absent,
  asked,
  expectation,
  none,
  ownership,
  records,
  rightCname,
  timeout,
} from '../../support/domains/known-dns.ts';
import { isContested } from '../../../src/domains/domain/attachment/contested-name.ts';
import { isVisited } from '../../../src/domains/domain/attachment/serving.ts';
import {
  hostMeant,
  parseHostname,
  shownHost,
  baseOf,
  covers,
  isWildcard,
  type NameFacts,
  wildcardOver,
} from '../../../src/domains/domain/names/hostname.ts';
import type { DnsFacts, ResolverFacts } from '../../../src/domains/domain/dns/facts.ts';
import { reportOn, type DnsExpectation } from '../../../src/domains/domain/dns/report.ts';

test('a live wildcard has no single address to visit', () => {
  expect(isVisited(live)).toBe(true);
  expect(isVisited({ ...live, host: '*.shop.example.com' })).toBe(false);
});

const settings = {
  platformHost: 'sites.store.com',
  acmeDnsZone: 'acme.store.com',
  allowTestDomains: false,
};

const factsOf = (name: string): NameFacts => {
  const labels = name.split('.');
  return {
    ascii: name.replace('bücher', 'xn--bcher-kva'),
    unicode: name.replace('xn--bcher-kva', 'bücher'),
    registrableDomain: labels.length > 1 ? labels.slice(-2).join('.') : undefined,
    isPublicSuffix: labels.length === 1 || name === 'co.uk',
    isSuffixKnown: true,
    isIp: false,
  };
};

const parse = (raw: string, zone: string | undefined = settings.acmeDnsZone) =>
  parseHostname(raw, factsOf, { ...settings, acmeDnsZone: zone });

const refusalOf = (raw: string, zone?: string): unknown => {
  try {
    return parse(raw, zone).host;
  } catch (error) {
    return error;
  }
};

describe('a wildcard', () => {
  test('is stored with its asterisk, below a registrable domain', () => {
    expect(parse(' *.Shop.Example.COM. ')).toEqual({
      host: '*.shop.example.com',
      unicode: '*.shop.example.com',
      registrableDomain: 'example.com',
      labels: '*.shop',
      isApex: false,
    });
    expect(parse('*.example.com')).toMatchObject({ labels: '*', isApex: false });
  });

  test('of another script is shown in both spellings, and found by each of them', () => {
    expect(shownHost(parse('*.bücher.com'))).toBe('*.bücher.com (*.xn--bcher-kva.com)');
    expect(hostMeant('*.Bücher.com.', factsOf)).toBe('*.xn--bcher-kva.com');
    expect(hostMeant('bücher.com', factsOf)).toBe('xn--bcher-kva.com');
  });

  test.each([
    ['*.com', 'public_suffix', 'example.com'],
    ['*.co.uk', 'public_suffix', 'example.co.uk'],
    ['*.sites.store.com', 'name_reserved', 'Names below sites.store.com are ours'],
    ['*.birds.sites.store.com', 'name_reserved', 'Names below sites.store.com are ours'],
    ['*.acme.store.com', 'name_reserved', 'Names below acme.store.com are ours'],
    ['*.store.com', 'name_reserved', '"*.store.com" also covers sites.store.com'],
    ['*.shop.example', 'name_reserved', 'does not exist'],
    ['*.localhost', 'name_reserved', 'does not exist'],
    ['*.192.0.2.1', 'ip_literal', 'is an IP address'],
    ['*', 'wildcard_unsupported', 'whole first part'],
    ['*.*.example.com', 'wildcard_unsupported', 'whole first part'],
    ['a.*.example.com', 'wildcard_unsupported', 'whole first part'],
    ['a*.example.com', 'wildcard_unsupported', 'whole first part'],
    ['**.example.com', 'wildcard_unsupported', 'whole first part'],
    ['*.', 'wildcard_unsupported', 'whole first part'],
    ['*..example.com', 'domain_name_invalid', 'an extra dot'],
    ['*.my_shop.example.com', 'domain_name_invalid', 'hyphen instead'],
    ['https://*.shop.example.com/', 'domain_name_invalid', 'only the name: *.shop.example.com'],
  ])('"%s" is refused', (raw, code, advice) => {
    expect(refusalOf(raw)).toMatchObject({ code, message: expect.stringContaining(advice) });
  });

  test('is refused if there is no zone to prove it with', () => {
    const refused = () =>
      parseHostname('*.example.com', factsOf, { ...settings, acmeDnsZone: undefined });
    expect(refused).toThrow(expect.objectContaining({ code: 'wildcard_unsupported' }));
  });

  test('leaves room for the name of its proof, and for a random name', () => {
    const base = `${`${'a'.repeat(62)}.`.repeat(3)}${'a'.repeat(40)}.com`;
    expect(`as-0123456789abcdef.${base}`).toHaveLength(253);
    expect(parse(`*.${base}`).host).toBe(`*.${base}`);
    expect(refusalOf(`*.a${base}`)).toMatchObject({ code: 'name_too_long' });
    expect(parse(`a${base}`).host).toBe(`a${base}`);
  });
});

describe('the names that a wildcard covers', () => {
  const label = fc.stringMatching(/^[a-z0-9_]([a-z0-9-]{0,8}[a-z0-9])?$/);
  const name = fc.array(label, { minLength: 2, maxLength: 6 }).map((labels) => labels.join('.'));

  test('have exactly one more label, whatever it is', () => {
    fc.assert(
      fc.property(label, name, (first, base) => {
        expect(covers(`*.${base}`, `${first}.${base}`)).toBe(true);
      }),
    );
  });

  test('do not include its base name, names with two more labels, or wildcards', () => {
    fc.assert(
      fc.property(label, label, name, (first, second, base) => {
        const wildcard = `*.${base}`;
        expect(covers(wildcard, base)).toBe(false);
        expect(covers(wildcard, `${first}.${second}.${base}`)).toBe(false);
        expect(covers(wildcard, wildcard)).toBe(false);
        expect(covers(wildcard, `*.${first}.${base}`)).toBe(false);
        expect(covers(wildcard, `.${base}`)).toBe(false);
      }),
    );
  });

  test('are covered by one wildcard only, so that no two can conflict', () => {
    fc.assert(
      fc.property(name, name, (host, base) => {
        const isCovered = covers(`*.${base}`, host);
        expect(isCovered).toBe(wildcardOver(host) === `*.${base}`);
        if (isCovered) expect(baseOf(wildcardOver(host) ?? '')).toBe(base);
      }),
    );
  });

  test('are no more than those that its certificate is valid for', () => {
    const patternOf = (wildcard: string) =>
      new RegExp(`^[^.]+\\.${baseOf(wildcard).replaceAll('.', '\\.')}$`);
    fc.assert(
      fc.property(fc.oneof(name, label, fc.string()), name, (host, base) => {
        const wildcard = `*.${base}`;
        expect(isWildcard(wildcard)).toBe(true);
        if (covers(wildcard, host)) expect(host).toMatch(patternOf(wildcard));
      }),
    );
  });

  test("are never the platform's, for any wildcard that is accepted", () => {
    const ours = fc.constantFrom('sites.store.com', 'acme.store.com', 'birds.sites.store.com');
    const above = fc.constantFrom('store.com', 'sites.store.com', 'acme.store.com', 'com', 'a.com');
    fc.assert(
      fc.property(ours, above, (host, base) => {
        if (covers(`*.${base}`, host)) expect(refusalOf(`*.${base}`)).toBeInstanceOf(Error);
      }),
    );
  });
});

const cover = { ...live, id: 'dom_cover', accountId: 'acct_other', host: '*.shop.example.com' };
const exact = { ...live, id: 'dom_exact', accountId: 'acct_1', host: 'a.shop.example.com' };

test('a name needs its own proof if another account holds the wildcard that covers it', () => {
  expect(isContested(exact, [cover])).toBe(true);
  expect(isContested(exact, [{ ...cover, accountId: exact.accountId }])).toBe(false);
  expect(isContested(exact, [exact, cover])).toBe(false);
  expect(isContested({ ...exact, id: 'dom_new' }, [exact, cover])).toBe(true);
});

const zone = 'acme.platform.test';
const [policy] = expectation.caa;
const wanted: DnsExpectation = {
  ...expectation,
  acmeDnsZone: zone,
  caa: policy ? [{ ...policy, method: 'dns-01', isWildcard: true }] : [],
};
const right: Partial<ResolverFacts> = {
  ...rightCname,
  sibling: rightCname.cname ?? none,
  delegation: records(`t1.${zone}`),
};

const probed = (...known: readonly Partial<ResolverFacts>[]): DnsFacts => ({
  ...asked(...known),
  host: '*.shop.example.com',
  probe: 'as-1.shop.example.com',
});

const codes = (known: Partial<ResolverFacts>, its = wanted): readonly string[] =>
  reportOn(probed(known), its).problems.map(({ code }) => code);

describe('the report on a wildcard', () => {
  test('names the random name that was looked up, and does not warn of the wildcard itself', () => {
    expect(reportOn(probed(right), wanted)).toMatchObject({
      probe: 'as-1.shop.example.com',
      problems: [],
      verifiable: true,
      isApex: false,
      ownershipRequired: true,
      ownershipProven: true,
      pointsHere: true,
      validation: { delegated: true, method: 'dns-01' },
    });
  });

  test.each([
    ['it does not exist', none, 'no CNAME at _acme-challenge.shop.example.com'],
    ['the wildcard record answers for it', records('t1.sites.test'), 'CNAME t1.sites.test'],
    ['it belongs to another attachment', records(`t2.${zone}`), `CNAME t2.${zone}`],
  ] as const)('requires the delegation: %s', (_, delegation, seen) => {
    const report = reportOn(probed({ ...right, delegation }), wanted);
    expect(report).toMatchObject({
      verifiable: false,
      ownershipProven: false,
      problems: [
        {
          code: 'delegation_missing',
          severity: 'blocking',
          actor: 'customer',
          seen: expect.stringContaining(seen),
          wanted: `_acme-challenge.shop.example.com CNAME t1.${zone}`,
        },
      ],
    });
  });

  test('accepts no TXT record in place of the delegation', () => {
    expect(codes({ ...right, delegation: none, txt: ownership })).toEqual(['delegation_missing']);
  });

  test('does not confirm it while the delegation cannot be looked up, even if it existed before', () => {
    const lastValidation = { delegated: true, method: 'dns-01' } as const;
    const report = reportOn(probed({ ...right, delegation: timeout }), {
      ...wanted,
      lastValidation,
    });
    expect(report).toMatchObject({ ownershipProven: false, verifiable: false });
    expect(report.problems.map(({ code }) => code)).toEqual(['dns_lookup_failed']);
  });

  test('says what is wrong with the record of its names, as for any name', () => {
    expect(codes({ ...right, ...absentRoute })).toEqual(['dns_not_found']);
    expect(codes({ ...right, cname: none, a: records('203.0.113.9') })).toEqual(['conflicting_a']);
    expect(codes({ ...right, isZoneApex: true })).toEqual([]);
  });

  test('follows issuewild, and shows the line to add', () => {
    const forbids = { flags: 0, tag: 'issuewild', value: ';' };
    const caa = [{ name: 'shop.example.com', answer: records(forbids) }];
    const { problems } = reportOn(probed({ ...right, caa }), wanted);
    expect(problems).toMatchObject([
      { code: 'caa_forbids_issuer', wanted: 'shop.example.com. CAA 0 issuewild "ca.test"' },
    ]);
  });

  test('is never HTTP, whatever CAA says of the methods', () => {
    const value = 'ca.test; validationmethods=http-01';
    const caa = [{ name: 'example.com', answer: records({ flags: 0, tag: 'issue', value }) }];
    const report = reportOn(probed({ ...right, caa }), wanted);
    expect(report).toMatchObject({ verifiable: false, validation: { method: 'dns-01' } });
    expect(report.problems.map(({ code }) => code)).toEqual(['caa_forbids_issuer']);
  });

  test('refuses it without a zone', () => {
    const { acmeDnsZone: _, ...without } = wanted;
    expect(codes(right, without)).toEqual(['wildcard_unsupported']);
  });
});

const absentRoute = { cname: absent, chain: { names: [], end: 'reached' }, a: absent } as const;
