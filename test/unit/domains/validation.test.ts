import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { isSeen } from '../../../src/adapters/dashboard/domains/records.ts';
import type { ResolverFacts } from '../../../src/domains/domain/dns/facts.ts';
import { recordsFor } from '../../../src/domains/domain/dns/records.ts';
import {
  reportOn,
  type DnsExpectation,
  type DnsReport,
} from '../../../src/domains/domain/dns/report.ts';
import {
  chooseMethod,
  methodAt,
  methodFor,
  type ValidationMethod,
} from '../../../src/domains/domain/dns/validation.ts';
import { after, begin, fail, minute, verified } from '../../support/domains/known-domains.ts';
import { workOn } from '../../../src/domains/domain/certificates/certificate-status.ts';
import {
  absent,
  asked,
  expectation,
  host,
  none,
  ownership,
  records,
  rightCname,
  timeout,
} from '../../support/domains/known-dns.ts';

const zone = 'acme.platform.test';
const zoned: DnsExpectation = { ...expectation, acmeDnsZone: zone };
const delegation = records(`t1.${zone}`);
const delegated: Partial<ResolverFacts> = { ...rightCname, delegation };
const issue = (value: string): Pick<ResolverFacts, 'caa'> => ({
  caa: [{ name: 'example.com', answer: records({ flags: 0, tag: 'issue', value }) }],
});

describe('the validation method of a certificate', () => {
  const any = () => true;
  const only = (allowed: ValidationMethod) => (method: ValidationMethod) => method === allowed;

  test.each([
    ['shop.example.com', false, any, 'http-01'],
    ['shop.example.com', true, any, 'dns-01'],
    ['shop.example.com', true, only('http-01'), 'http-01'],
    ['shop.example.com', false, only('dns-01'), 'http-01'],
    ['shop.example.com', true, () => false, 'dns-01'],
    ['*.shop.example.com', true, only('http-01'), 'dns-01'],
    ['*.shop.example.com', false, any, 'dns-01'],
  ] as const)(
    'depends only on its inputs: %s, delegated: %s',
    (host, isDelegated, allows, expected) => {
      expect(methodFor({ host, isDelegated }, allows)).toBe(expected);
    },
  );

  test.each<[what: string, known: readonly Partial<ResolverFacts>[], isThere: boolean]>([
    ['all resolvers see it', [delegated], true],
    ['most resolvers see it', [delegated, delegated, { ...rightCname, delegation: none }], true],
    ['a minority sees it', [delegated, rightCname, { ...rightCname, delegation: timeout }], false],
    ['nobody answers', [{ ...rightCname, delegation: timeout }], false],
    ['it does not exist', [{ ...rightCname, delegation: absent }], false],
    [
      'it belongs to another attachment',
      [{ ...delegated, delegation: records(`t2.${zone}`) }],
      false,
    ],
    ['it leads elsewhere', [{ ...delegated, delegation: records('t1.acme.other.test') }], false],
  ])('follows the delegation: %s', (_, known, isThere) => {
    const { validation } = reportOn(asked(...known), zoned);
    expect(validation).toEqual({ delegated: isThere, method: isThere ? 'dns-01' : 'http-01' });
  });

  test('is never DNS without a zone, whatever the challenge name contains', () => {
    expect(reportOn(asked(delegated), expectation)).not.toHaveProperty('validation');
  });

  test.each([
    ['ca.test; validationmethods=dns-01', 'dns-01', true],
    ['ca.test; validationmethods=http-01', 'http-01', true],
    ['ca.test; validationmethods=http-01,dns-01', 'dns-01', true],
    ['ca.test; validationmethods=tls-alpn-01', 'dns-01', false],
    ['ca.test; accounturi=https://ca.test/acct/1', 'dns-01', true],
    ['ca.test; accounturi=https://ca.test/acct/2', 'dns-01', false],
    ['other.test', 'dns-01', false],
  ] as const)('follows CAA: %s', (value, method, verifiable) => {
    const report = reportOn(asked({ ...delegated, ...issue(value) }), zoned);
    expect(report).toMatchObject({ validation: { delegated: true, method }, verifiable });
    const codes = report.problems.map(({ code }) => code);
    expect(codes).toEqual(verifiable ? [] : ['caa_forbids_issuer']);
  });

  test('is blocked by a CAA record that allows only DNS, until the name is delegated', () => {
    const caa = issue('ca.test; validationmethods=dns-01');
    const { problems } = reportOn(asked({ ...rightCname, ...caa, delegation: none }), zoned);
    expect(problems).toMatchObject([
      { code: 'caa_forbids_issuer', seen: expect.stringContaining('by http-01') as unknown },
    ]);
  });
});

describe('the method of the next order', () => {
  const method = fc.constantFrom('http-01' as const, 'dns-01' as const);
  const known = fc.record({
    host: fc.constantFrom('shop.example.com', '*.example.com'),
    authority: fc.constantFrom('ca.test', 'other.test'),
    validation: fc.option(
      fc.record(
        {
          delegated: fc.boolean(),
          method,
          exceptions: fc.dictionary(fc.constantFrom('ca.test', 'other.test'), method),
          onlyByDns: fc.subarray(['ca.test', 'other.test']),
        },
        { requiredKeys: ['delegated', 'method'] },
      ),
      { nil: undefined },
    ),
    leadsHere: fc.boolean(),
    unproven: fc.option(method, { nil: undefined }),
  });

  test('is HTTP instead of DNS exactly if DNS failed and HTTP is possible', () => {
    fc.assert(
      fc.property(known, (facts) => {
        const { host, authority, validation, leadsHere, unproven } = facts;
        const usual = methodAt({ host, validation }, authority);
        const isPossible = leadsHere && host === 'shop.example.com';
        const isAllowed = !validation?.onlyByDns?.includes(authority);
        const isOther = unproven === 'dns-01' && isPossible && isAllowed;
        expect(chooseMethod(facts)).toBe(isOther ? 'http-01' : usual);
      }),
    );
  });

  test('changes after each failure if both are possible, and never otherwise', () => {
    fc.assert(
      fc.property(known, (facts) => {
        const one = chooseMethod(facts);
        const two = chooseMethod({ ...facts, unproven: one });
        const three = chooseMethod({ ...facts, unproven: two });
        const first = chooseMethod({ ...facts, unproven: undefined });
        expect([one, two]).toContain(first);
        expect(three).toBe(one === two ? two : one);
      }),
    );
  });

  test.each([
    ['dns', 'the proof was not found', 'dns-01'],
    ['challenge', 'the proof was not found', 'dns-01'],
    ['unavailable', 'the authority is away, which says nothing about the proof', 'http-01'],
    ['caa', 'CAA changes the method itself', undefined],
    ['rejected_name', 'no method helps', undefined],
  ] as const)('remembers after the failure "%s" that %s', (reason, _, unproven) => {
    const begun = begin(verified, after(2 * minute)).state;
    const work = { ...workOn(begun)!, method: 'dns-01', since: after(0) } as const;
    if (begun.state !== 'verified' || work.step !== 'ordered') throw new Error('no order');
    const attempts = { ...work.attempts, unproven: 'http-01' } as const;
    const certificate = { kind: 'wanted', work: { ...work, attempts } } as const;
    const failed = fail({ ...begun, certificate }, reason, after(3 * minute)).state;
    expect(workOn(failed)?.attempts?.unproven).toBe(unproven);
  });

  test('stays DNS if CAA allows only DNS', () => {
    const only = issue('ca.test; validationmethods=dns-01');
    const report = reportOn(asked({ ...delegated, ...only }), zoned);
    expect(report.validation).toMatchObject({ method: 'dns-01', onlyByDns: ['ca.test'] });
    const both = reportOn(asked(delegated), zoned);
    const chosen = [report, both].map(({ validation }) =>
      chooseMethod({
        host: 'shop.example.com',
        authority: 'ca.test',
        validation,
        leadsHere: true,
        unproven: 'dns-01',
      }),
    );
    expect(chosen).toEqual(['dns-01', 'http-01']);
  });
});

describe('the delegation proves ownership as the TXT record does', () => {
  const contested = { ...zoned, isContested: true };

  test('for a name that another account holds', () => {
    const report = reportOn(asked(delegated), contested);
    expect(report).toMatchObject({
      ownershipRequired: true,
      ownershipProven: true,
      verifiable: true,
      problems: [],
    });
  });

  test('but not if it names another attachment', () => {
    const other = { ...rightCname, delegation: records(`t2.${zone}`) };
    const report = reportOn(asked(other), contested);
    expect(report).toMatchObject({ ownershipProven: false, verifiable: false });
    expect(report.problems.map(({ code }) => code)).toEqual(['ownership_txt_missing']);
  });
});

describe('a challenge name that points to the wildcard covering the name', () => {
  const shared = { ...zoned, sharedToken: 't2' };
  const other = { ...rightCname, delegation: records(`t2.${zone}`) };
  const both = { ...other, txt: ownership };
  const label = { delegated: true, method: 'dns-01', label: 't2' };

  test.each<[what: string, known: Partial<ResolverFacts>, of: DnsExpectation, seen: object]>([
    ['together with the TXT record', both, shared, label],
    ['not alone', other, shared, { delegated: false, method: 'http-01' }],
    ['not for another project', both, zoned, { delegated: false, method: 'http-01' }],
    ['its own delegation counts alone', delegated, shared, { delegated: true, method: 'dns-01' }],
  ])('also validates it: %s', (_, known, of, seen) => {
    expect(reportOn(asked(known), of).validation).toEqual(seen);
  });

  test('does not prove a contested name', () => {
    const contested = { ...shared, isContested: true };
    expect(reportOn(asked(other), contested)).toMatchObject({
      ownershipProven: false,
      verifiable: false,
    });
  });

  test('still receives the values while it cannot be looked up', () => {
    const lastValidation = { delegated: true, method: 'dns-01', label: 't2' } as const;
    const unheard = { ...rightCname, delegation: timeout };
    const { validation } = reportOn(asked(unheard), { ...shared, lastValidation });
    expect(validation).toEqual(label);
  });
});

test('the TXT record is neither found nor required if the delegation replaces it', () => {
  const [alone, both] = [delegated, { ...delegated, txt: ownership }].map((one) =>
    reportOn(asked(one), { ...zoned, isApex: true }),
  );
  expect(alone).toMatchObject({ ownershipProven: true, textSeen: false });
  expect(both).toMatchObject({ ownershipProven: true, textSeen: true });
  expect(isSeen(alone!, 'ownership')).toBe(false);
  expect(isSeen(both!, 'ownership')).toBe(true);
  const name = { host: 'example.com', registrableDomain: 'example.com', isApex: true };
  const needs = { platformHost: 'sites.test', txtRequired: true, acmeDnsZone: zone };
  expect(recordsFor(name, 't1', needs)[1]?.required).toBe(true);
  expect(recordsFor(name, 't1', { ...needs, isDelegated: true })[1]?.required).toBe(false);
});

describe('while the delegation cannot be looked up', () => {
  const right = { ...rightCname, delegation };
  const unheard = { ...rightCname, delegation: timeout };
  const lastValidation = { delegated: true, method: 'dns-01' } as const;
  const codes = (report: DnsReport) => report.problems.map(({ code }) => code);

  test('the TXT record is not reported as missing', () => {
    const report = reportOn(asked(right, unheard, unheard), { ...zoned, isContested: true });
    expect(codes(report)).toEqual(['dns_lookup_failed']);
    expect(report).toMatchObject({ ownershipProven: false, verifiable: false });
    const proven = reportOn(asked({ ...unheard, txt: ownership }), { ...zoned, isContested: true });
    expect(proven).toMatchObject({ problems: [], ownershipProven: true });
  });

  test('the validation method stays the same', () => {
    const report = reportOn(asked(right, unheard, unheard), { ...zoned, lastValidation });
    expect(report).toMatchObject({ validation: lastValidation, problems: [] });
    const gone = { ...rightCname, delegation: none };
    const { validation } = reportOn(asked(gone), { ...zoned, lastValidation });
    expect(validation).toEqual({ delegated: false, method: 'http-01' });
  });

  test('CAA is not reported as forbidding a certificate that the delegation would allow', () => {
    const caa = issue('ca.test; validationmethods=dns-01');
    const all = [right, unheard, { ...rightCname, delegation: none }];
    const report = reportOn(asked(...all.map((one) => ({ ...one, ...caa }))), zoned);
    expect(codes(report)[0]).toBe('dns_lookup_failed');
    expect(codes(report)).not.toContain('caa_forbids_issuer');
    expect(report.verifiable).toBe(false);
    const other = { ...unheard, ...issue('other.test') };
    expect(codes(reportOn(asked(other), zoned))).toEqual(['caa_forbids_issuer']);
  });
});

describe('with two authorities', () => {
  const [first, second] = ['ca.test', 'other.test'];
  const caa = [first, second].map((authority) => ({
    authority,
    issuers: [authority],
    accountUri: undefined,
    isWildcard: false,
    method: 'http-01' as const,
  }));
  const allowing = (...values: readonly string[]) => {
    const answer = records(...values.map((value) => ({ flags: 0, tag: 'issue', value })));
    const facts = { ...delegated, caa: [{ name: 'example.com', answer }] };
    return reportOn(asked(facts), { ...zoned, caa });
  };

  test('each validates as CAA allows it', () => {
    const report = allowing(`${first}; validationmethods=http-01`, second);
    expect(report).toMatchObject({ mayIssue: [first, second], verifiable: true });
    const methods = [first, second].map((one) =>
      methodAt({ host, validation: report.validation }, one),
    );
    expect(methods).toEqual(['http-01', 'dns-01']);
  });

  test('the method comes from those that may issue', () => {
    const { mayIssue, validation } = allowing(`${second}; validationmethods=http-01`);
    expect(mayIssue).toEqual([second]);
    expect(validation?.method).toBe('http-01');
    expect(methodAt({ host, validation }, second)).toBe('http-01');
  });
});

test('the record is optional, shown if there is a zone, and included in the zone file', () => {
  const name = { host: 'shop.example.com', registrableDomain: 'example.com', isApex: false };
  const needs = { platformHost: 'sites.test', txtRequired: true };
  expect(recordsFor(name, 't1', needs)).toHaveLength(2);
  expect(recordsFor(name, 't1', { ...needs, acmeDnsZone: zone })[2]).toEqual({
    purpose: 'delegation',
    type: 'CNAME',
    name: '_acme-challenge.shop',
    fqdn: '_acme-challenge.shop.example.com',
    value: `t1.${zone}`,
    ttl: 3600,
    required: false,
  });
});
