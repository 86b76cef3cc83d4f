import { describe, expect, test } from '@jest/globals';
import type { DnsAnswer, ResolverFacts } from '../../../src/domains/domain/dns/facts.ts';
import { keptAnswers } from '../../../src/domains/domain/dns/judgement.ts';
import { reportOn } from '../../../src/domains/domain/dns/report.ts';
import {
  asked,
  expectation,
  facts,
  host,
  none,
  rightCname,
  servfail,
  timeout,
} from '../../support/domains/known-dns.ts';

type Known = Partial<ResolverFacts>;

const unchecked = { question: `CNAME ${host}`, errors: [{ code: 7, text: 'on "Friday"' }] };
const allFail = {
  cname: servfail,
  a: servfail,
  aaaa: servfail,
  txt: servfail,
  chain: { names: [], end: 'failed' } as const,
  caa: [{ name: host, answer: servfail }],
};
const bogus: Known = { ...allFail, unchecked };
const caaAt = (answer: DnsAnswer<never>) =>
  [host, 'example.com', 'com'].map((name) => ({ name, answer }));
/** A resolver that sees nothing wrong, whether it validates or not. */
const validated: Known = { ...rightCname, caa: caaAt({ kind: 'none', isAuthentic: true }) };
const notValidated: Known = { ...rightCname, caa: caaAt(none) };

const codesOf = (...known: readonly Known[]) =>
  reportOn(asked(...known), expectation).problems.map(({ code }) => code);

test('broken DNSSEC is the only problem, blocks, and shows what the resolver says', () => {
  const { problems, verifiable, resolvers } = reportOn(asked(bogus), expectation);
  expect(problems).toHaveLength(1);
  expect(problems[0]).toMatchObject({
    code: 'dnssec_bogus',
    severity: 'blocking',
    actor: 'customer',
    seen:
      `198.51.100.1: SERVFAIL for CNAME ${host}, but an answer with checking disabled; ` +
      'extended error 7 (Signature Expired): "on \\"Friday\\""',
  });
  expect(verifiable).toBe(false);
  expect(resolvers[0]?.seen).toBe(
    `an answer that fails DNSSEC; CNAME: servfail; CAA of ${host}: servfail`,
  );
});

describe('resolvers that disagree about DNSSEC', () => {
  test('one of three that validate may have an old answer', () => {
    expect(codesOf(validated, bogus, validated)).toEqual(['propagation_incomplete']);
    expect(reportOn(asked(validated, bogus, validated), expectation).verifiable).toBe(true);
  });

  test('two of three block the domain', () => {
    const codes = codesOf(validated, bogus, bogus);
    expect(codes).toEqual(['dnssec_bogus', 'propagation_incomplete', 'propagation_incomplete']);
  });

  test('resolvers that do not validate cannot outvote one that does', () => {
    expect(codesOf(notValidated, bogus, notValidated)).toEqual(['dnssec_bogus']);
  });

  test('one of three may be wrong while the others fail for another reason, so DNSSEC is not blamed', () => {
    const codes = codesOf({ ...allFail, cname: timeout }, bogus, { cname: timeout });
    expect(codes).toEqual(['dns_lookup_failed']);
  });

  test('two of three block the domain even if the third fails for another reason', () => {
    expect(codesOf(bogus, bogus, { ...allFail, cname: timeout })).toEqual(['dnssec_bogus']);
  });

  test('a resolver that found CAA records at a lower level may or may not validate', () => {
    const caa = [{ name: host, answer: none }];
    expect(codesOf({ ...rightCname, caa }, bogus, { ...rightCname, caa })).not.toContain(
      'dnssec_bogus',
    );
  });
});

test.each([
  ['without any extended error', [], 'dnssec_bogus'],
  ['with one of DNSSEC beside another', [22, 9], 'dnssec_bogus'],
  ['with an unknown extended error', [4000], 'dnssec_bogus'],
  ['with only the error that it remembers the failure', [13], 'dnssec_bogus'],
  ['with a remembered error of DNSSEC', [9, 13], 'dnssec_bogus'],
  ['because it reaches no name server', [22, 23], 'dns_lookup_failed'],
  ['because it remembers that it reached no name server', [22, 13], 'dns_lookup_failed'],
  ['because it blocks the name', [15], 'dns_lookup_failed'],
])('a resolver that fails only with checking, %s', (_, codes, problem) => {
  const errors = codes.map((code) => ({ code, text: '' }));
  expect(codesOf({ ...bogus, unchecked: { ...unchecked, errors } })).toEqual([problem]);
});

test('the error texts of resolvers are stored within a size limit', () => {
  const one = { ...facts(bogus), resolver: '198.51.100.1' };
  expect(keptAnswers([one])[0]).toEqual(one);
  const text = 'x'.repeat(160);
  const errors = Array.from({ length: 4 }, (_, code) => ({ code, text }));
  const many = Array.from({ length: 50 }, () => ({ ...one, unchecked: { ...unchecked, errors } }));
  for (const { unchecked: kept } of keptAnswers(many)) {
    expect(kept?.errors.length).toBe(1);
  }
});
