import { describe, expect, test } from '@jest/globals';
import type { DnsFacts, ResolverFacts } from '../../../src/domains/domain/dns/facts.ts';
import { reportOn, type DnsExpectation } from '../../../src/domains/domain/dns/report.ts';
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
  test('names the made-up name that was looked up, and warns of no wildcard beside it', () => {
    expect(reportOn(probed(right), wanted)).toMatchObject({
      ...{ probe: 'as-1.shop.example.com', problems: [], verifiable: true, isApex: false },
      ...{ ownershipRequired: true, ownershipProven: true, pointsHere: true },
      validation: { delegated: true, method: 'dns-01' },
    });
  });

  test.each([
    ['there is none', none, 'no CNAME at _acme-challenge.shop.example.com'],
    ['the wildcard record answers for it', records('t1.sites.test'), 'CNAME t1.sites.test'],
    ['it belongs to another attachment', records(`t2.${zone}`), `CNAME t2.${zone}`],
  ] as const)('requires the delegation: %s', (_, delegation, seen) => {
    const report = reportOn(probed({ ...right, delegation }), wanted);
    expect(report).toMatchObject({
      ...{ verifiable: false, ownershipProven: false },
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

  test('takes no TXT record in its place', () => {
    expect(codes({ ...right, delegation: none, txt: ownership })).toEqual(['delegation_missing']);
  });

  test('proves nothing while the delegation cannot be looked up, even if it was there before', () => {
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

  test('is never about HTTP, whatever CAA says of the methods', () => {
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
