import { describe, expect, test } from '@jest/globals';
import { problemOf } from '../../../src/domains/domain/attachment/domain-certificate.ts';
import type { AuthorityFailureReason } from '../../../src/domains/domain/certificates/certificate-status.ts';
import type { Validation } from '../../../src/domains/domain/dns/validation.ts';
import type { CustomDomain } from '../../../src/domains/domain/attachment/custom-domain.ts';
import {
  after,
  begin,
  failure,
  minute,
  ordered,
  report,
  verified,
} from '../../support/domains/known-domains.ts';

const issuers = ['ca.test', 'other-name-of-ca.test'];
const problem = (reason: AuthorityFailureReason, domain: CustomDomain, of = issuers) =>
  problemOf({ failure: failure(reason), issuers: of }, domain);

const reported = { ...ordered.dns, report: report(after(minute), { isApex: true }) };
const unreported = { ...ordered.dns, report: undefined };
const name = { host: 'example.com', unicodeHost: 'example.com', isApex: true };
const apex: CustomDomain = { ...ordered, ...name, dns: unreported };
const zone: CustomDomain = { ...ordered, dns: reported };

describe('a refusal by CAA', () => {
  test.each([
    ['stands at an apex itself', apex, 'example.com. CAA 0 issue "ca.test"'],
    ['stands at the apex of a zone', zone, 'shop.example.com. CAA 0 issue "ca.test"'],
    ['stands above a name with a CNAME', ordered, 'example.com. CAA 0 issue "ca.test"'],
    [
      'stands right above a deeper one',
      { ...ordered, host: 'a.shop.example.com' },
      'shop.example.com. CAA 0 issue "ca.test"',
    ],
  ])('names the record to add, which %s', (_, domain, wanted) => {
    const told = problem('caa', domain);
    expect(told).toMatchObject({ code: 'caa_forbids_issuer', seen: 'says the authority', wanted });
  });

  test('says that our own resolvers see something else, and where the record belongs', () => {
    expect(problem('caa', apex).fix).toMatch(/our own resolvers found none.*provider of example/s);
    expect(problem('caa', ordered).fix).toMatch(/our own resolvers found none.*CNAME/s);
  });

  test('of an authority without a CAA name suggests no record', () => {
    expect(problem('caa', ordered, []).wanted).toBe('a certificate for shop.example.com');
  });
});

test.each([
  ['challenge', 'challenge_unreachable'],
  ['rate_limited', 'ca_rate_limited'],
  ['rejected_name', 'ca_rejected_name'],
] as const)('after %s the problem asks for a certificate', (reason, code) => {
  expect(problem(reason, ordered)).toMatchObject({
    ...{ code, seen: 'says the authority', wanted: 'a certificate for shop.example.com' },
  });
});

describe('a name that is validated by DNS', () => {
  /** Its order was begun as the report of that time says. */
  const seen = (validation: Validation): CustomDomain => {
    const dns = { ...verified.dns, report: report(after(minute), { validation }) };
    return begin({ ...verified, dns }, after(2 * minute)).state;
  };

  test('that the authority cannot look up is not the fault of an owner whose record is there', () => {
    const told = problem('dns', seen({ delegated: true, method: 'dns-01' }));
    expect(told).toMatchObject({ code: 'dns_lookup_failed', actor: 'us' });
    expect(told.fix).toContain('_acme-challenge.shop.example.com');
  });

  test('asks for the record where it is not there any more', () => {
    const validation = { delegated: false, method: 'http-01' } as const;
    const begun = seen({ delegated: true, method: 'dns-01' });
    const dns = { ...begun.dns, report: report(after(3 * minute), { validation }) };
    const told = problem('dns', { ...begun, dns });
    expect(told).toMatchObject({ actor: 'customer' });
    expect(told.fix).toContain('_acme-challenge.shop.example.com');
  });

  test('only by one authority is no matter to another', () => {
    const exceptions = { 'authority.test': 'http-01' } as const;
    const told = problem('dns', seen({ delegated: true, method: 'dns-01', exceptions }));
    expect(told).toMatchObject({ actor: 'customer' });
    expect(told.fix).not.toContain('_acme-challenge');
  });
});
