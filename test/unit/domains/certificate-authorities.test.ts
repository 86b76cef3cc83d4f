import type { CustomDomain } from '../../../src/domains/domain/attachment/custom-domain.ts';
import {
  problemOf,
  renewedCertificate,
} from '../../../src/domains/domain/attachment/domain-certificate.ts';
import {
  type Choice,
  chooseAuthority,
  isLeft,
  turnAt,
} from '../../../src/domains/domain/certificates/authorities.ts';
import {
  type AuthorityFailureReason,
  type AuthorityTurn,
  freshAttempts,
  planned,
  type RenewalWork,
  workOn,
} from '../../../src/domains/domain/certificates/certificate-status.ts';
import type { Validation } from '../../../src/domains/domain/dns/validation.ts';
import {
  after,
  begin,
  day,
  fail,
  failure,
  hour,
  live,
  minute,
  ordered,
  report,
  settle,
  start,
  verified,
} from '../../support/domains/known-domains.ts';
import { describe, expect, test } from '@jest/globals';

const now = after(70 * day);
const ago = (milliseconds: number) => new Date(now.getTime() - milliseconds);
const inFuture = (milliseconds: number) => new Date(now.getTime() + milliseconds);

const wanted: Choice['certificate'] = { kind: 'wanted', work: planned(now) };
/** Valid for 20 more days, of which a twentieth is a day. */
const issued = renewedCertificate(live)!;

interface Facts {
  readonly mayIssue?: readonly string[];
  readonly ordered?: string;
  readonly first?: Partial<AuthorityTurn>;
  readonly second?: Partial<AuthorityTurn>;
  readonly lastBy?: string;
  readonly lastAt?: Date;
}

const unknown: AuthorityTurn = { awaySince: undefined, retryAt: undefined };

const choice = (
  { mayIssue = ['first', 'second'], ordered, first = {}, second = {}, lastBy, lastAt = now }: Facts,
  certificate: Choice['certificate'] = wanted,
): Choice => {
  const attempts = {
    ...freshAttempts(start),
    lastAt,
    lastBy,
    turns: { first: { ...unknown, ...first }, second: { ...unknown, ...second } },
  };
  const next = { at: now, attempts, problem: undefined };
  const order = { authority: ordered ?? '', method: 'http-01', since: now } as const;
  const work: RenewalWork =
    ordered === undefined ? { step: 'planned', ...next } : { step: 'ordered', ...order, ...next };
  return { mayIssue, certificate: { ...certificate, work } };
};

describe('a new certificate is requested from', () => {
  test.each<[string, string | undefined, Facts]>([
    ['the first, as long as it answers', 'first', {}],
    ['the first, although the second is away', 'first', { second: { awaySince: ago(day) } }],
    [
      'the first, in the first ten minutes',
      'first',
      { first: { awaySince: ago(10 * minute - 1) } },
    ],
    ['the second, after ten minutes', 'second', { first: { awaySince: ago(10 * minute) } }],
    [
      'the first again, after the second failed too',
      'first',
      { first: { awaySince: ago(hour) }, lastBy: 'second' },
    ],
    [
      'the second again, while the first asks us to wait',
      'second',
      { first: { awaySince: ago(hour), retryAt: inFuture(hour) }, lastBy: 'second' },
    ],
    [
      'the first, while the second asks us to wait',
      'first',
      { first: { awaySince: ago(hour) }, second: { retryAt: inFuture(hour) }, lastBy: 'first' },
    ],
    [
      'the first, although it was away days ago, if nothing was tried since',
      'first',
      { first: { awaySince: ago(3 * day) }, lastAt: ago(3 * day) },
    ],
    [
      'the second, even after days without an attempt, because the first asked us to wait',
      'second',
      { first: { awaySince: ago(3 * day), retryAt: inFuture(day) }, lastAt: ago(3 * day) },
    ],
    [
      'the second, after the clock was set back by days',
      'second',
      { first: { awaySince: inFuture(3 * day) }, lastAt: ago(11 * minute) },
    ],
    ['the second, if CAA allows only that', 'second', { mayIssue: ['second'] }],
    [
      'the first, if CAA allows only that, however long it is away',
      'first',
      { mayIssue: ['first'], first: { awaySince: ago(30 * day) } },
    ],
    ['no authority, before CAA was looked up', undefined, { mayIssue: [] }],
  ])('%s', (_, authority, facts) => {
    expect(chooseAuthority(choice(facts), now)).toBe(authority);
  });
});

describe('a renewal is requested from', () => {
  test.each<[string, string, number]>([
    ['the first, for a twentieth of the remaining time', 'first', 0.9],
    ['the second, after a twentieth of the remaining time', 'second', 1.1],
  ])('%s', (_, authority, share) => {
    // With 20 days left now, slightly more was left when it began.
    const facts = { first: { awaySince: ago(share * 1.05 * day) } };
    expect(chooseAuthority(choice(facts, issued), now)).toBe(authority);
  });
});

describe('the next attempt is made', () => {
  const at = inFuture(100 * minute);
  test.each<[string, Date, Facts]>([
    ['when it is due', at, {}],
    [
      'not before the only authority accepts it',
      inFuture(day),
      { first: { retryAt: inFuture(day) } },
    ],
    [
      'as soon as the second may be asked, if the first asks us to wait longer',
      inFuture(9 * minute),
      { first: { awaySince: ago(minute), retryAt: inFuture(day) } },
    ],
    [
      'as soon as the second may be asked, if it is due later',
      inFuture(9 * minute),
      { first: { awaySince: ago(minute) } },
    ],
    ['when it is due, after that', at, { first: { awaySince: ago(hour) } }],
    [
      'not before one of them accepts it',
      inFuture(2 * day),
      {
        first: { awaySince: ago(hour), retryAt: inFuture(3 * day) },
        second: { retryAt: inFuture(2 * day) },
      },
    ],
    [
      'by the only one that CAA allows',
      inFuture(day),
      { mayIssue: ['first'], first: { awaySince: ago(hour), retryAt: inFuture(day) } },
    ],
    [
      'when the authority of the current order accepts it, although CAA is unknown',
      inFuture(day),
      { mayIssue: [], ordered: 'first', first: { retryAt: inFuture(day) } },
    ],
    [
      'when the second accepts it, if it has the order',
      inFuture(day),
      { ordered: 'second', second: { retryAt: inFuture(day) } },
    ],
    [
      'when the first accepts it, if it has the order, although CAA allows only the second now',
      inFuture(day),
      { mayIssue: ['second'], ordered: 'first', first: { retryAt: inFuture(day) } },
    ],
    [
      'when all accept it, if the authority is unknown',
      inFuture(2 * day),
      { mayIssue: [], first: { retryAt: inFuture(day) }, second: { retryAt: inFuture(2 * day) } },
    ],
  ])('%s', (_, expected, facts) => {
    expect(turnAt(choice(facts), at)).toEqual(expected);
  });
});

describe('an order is abandoned', () => {
  test.each<[string, boolean, string, Facts]>([
    ['not while its authority answers', false, 'first', {}],
    ['not in the first ten minutes', false, 'first', { first: { awaySince: ago(9 * minute) } }],
    [
      'when its authority has been away for longer',
      true,
      'first',
      { first: { awaySince: ago(11 * minute) }, lastBy: 'first' },
    ],
    [
      'not after days without a check',
      false,
      'first',
      { first: { awaySince: ago(3 * day) }, lastBy: 'first', lastAt: ago(3 * day) },
    ],
    [
      'not if CAA allows no other',
      false,
      'first',
      { mayIssue: ['first'], first: { awaySince: ago(day) }, lastBy: 'first' },
    ],
    [
      'not at the second after one failure',
      false,
      'second',
      { first: { awaySince: ago(day) }, second: { awaySince: ago(minute) }, lastBy: 'second' },
    ],
  ])('%s', (_, expected, authority, facts) => {
    expect(isLeft(choice(facts), authority, now)).toBe(expected);
  });
});

const first = 'authority.test';

test('an authority that is working on an order does not count as unavailable', () => {
  const begun = begin(verified, after(minute), first).state;
  const failed = fail(begun, 'unavailable', after(2 * minute)).state;
  const turnsOf = ({ certificate }: CustomDomain) =>
    certificate.kind === 'none' ? undefined : certificate.work.attempts?.turns;
  expect(turnsOf(failed)).toEqual({
    [first]: { awaySince: after(2 * minute), retryAt: undefined },
  });
  const processing = { kind: 'processing', askAgainAfterMs: minute } as const;
  const at = { now: after(2 * minute) };
  expect(turnsOf(settle(failed, processing, at).state)).toEqual({});
  expect(settle(verified, processing, at).state).toEqual(verified);
});

describe("the start of an authority's outage", () => {
  const outage = (domain: CustomDomain, kind: 'failed' | 'not_placed', at: number) => {
    const away = { failure: failure('unavailable') };
    const end = kind === 'failed' ? { kind, ...away } : { kind, ...away, counts: false };
    return settle(domain, end, { now: after(at) }).state;
  };
  const awaySince = (domain: CustomDomain) =>
    workOn(domain)?.attempts?.turns[first]?.awaySince?.getTime();

  test('is the first of the consecutive attempts that it did not answer', () => {
    const once = outage(begin(verified, after(minute), first).state, 'not_placed', 2 * minute);
    const twice = outage(begin(once, after(3 * minute), first).state, 'not_placed', 4 * minute);
    expect(awaySince(twice)).toBe(after(2 * minute).getTime());
  });

  test('is reset once it has accepted an order, and only once', () => {
    const once = outage(begin(verified, after(minute), first).state, 'not_placed', 2 * minute);
    const placed = outage(begin(once, after(3 * minute), first).state, 'failed', 4 * minute);
    expect(awaySince(placed)).toBe(after(4 * minute).getTime());
    expect(awaySince(outage(placed, 'failed', 5 * minute))).toBe(after(4 * minute).getTime());
  });
});

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
    ['belongs at the apex itself', apex, 'example.com. CAA 0 issue "ca.test"'],
    ['belongs at the apex of a zone', zone, 'shop.example.com. CAA 0 issue "ca.test"'],
    ['belongs above a name with a CNAME', ordered, 'example.com. CAA 0 issue "ca.test"'],
    [
      'belongs directly above a deeper one',
      { ...ordered, host: 'a.shop.example.com' },
      'shop.example.com. CAA 0 issue "ca.test"',
    ],
  ])('names the record to add, which %s', (_, domain, wanted) => {
    const told = problem('caa', domain);
    expect(told).toMatchObject({ code: 'caa_forbids_issuer', seen: 'says the authority', wanted });
  });

  test('says that our own resolvers see something different, and which name needs the record', () => {
    expect(problem('caa', apex).fix).toMatch(/our own resolvers found none.*provider of example/s);
    expect(problem('caa', ordered).fix).toMatch(/our own resolvers found none.*CNAME/s);
  });

  test('suggests no record for an authority without a CAA name', () => {
    expect(problem('caa', ordered, []).wanted).toBe('a certificate for shop.example.com');
  });
});

test.each([
  ['challenge', 'challenge_unreachable'],
  ['rate_limited', 'ca_rate_limited'],
  ['rejected_name', 'ca_rejected_name'],
] as const)('the problem after %s asks for a certificate', (reason, code) => {
  expect(problem(reason, ordered)).toMatchObject({
    code,
    seen: 'says the authority',
    wanted: 'a certificate for shop.example.com',
  });
});

describe('a name that is validated by DNS', () => {
  const seen = (validation: Validation): CustomDomain => {
    const dns = { ...verified.dns, report: report(after(minute), { validation }) };
    return begin({ ...verified, dns }, after(2 * minute)).state;
  };

  test("is not the owner's fault if the authority cannot look it up although the record exists", () => {
    const told = problem('dns', seen({ delegated: true, method: 'dns-01' }));
    expect(told).toMatchObject({ code: 'dns_lookup_failed', actor: 'us' });
    expect(told.fix).toContain('_acme-challenge.shop.example.com');
  });

  test('asks for the record if it is missing now', () => {
    const validation = { delegated: false, method: 'http-01' } as const;
    const begun = seen({ delegated: true, method: 'dns-01' });
    const dns = { ...begun.dns, report: report(after(3 * minute), { validation }) };
    const told = problem('dns', { ...begun, dns });
    expect(told).toMatchObject({ actor: 'customer' });
    expect(told.fix).toContain('_acme-challenge.shop.example.com');
  });

  test('does not affect the second authority if only the first one fails to see it', () => {
    const exceptions = { 'authority.test': 'http-01' } as const;
    const told = problem('dns', seen({ delegated: true, method: 'dns-01', exceptions }));
    expect(told).toMatchObject({ actor: 'customer' });
    expect(told.fix).not.toContain('_acme-challenge');
  });
});
