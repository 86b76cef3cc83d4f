import { describe, expect, test } from '@jest/globals';
import { problemOf } from '../../../src/domains/domain/attachment/authority-problem.ts';
import type { AuthorityFailureReason } from '../../../src/domains/domain/certificates/order.ts';
import type { CustomDomain } from '../../../src/domains/domain/attachment/custom-domain.ts';
import { after, failure, minute, ordered, report } from '../../support/domains/known-domains.ts';

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
