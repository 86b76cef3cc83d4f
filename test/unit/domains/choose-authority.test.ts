import { describe, expect, test } from '@jest/globals';
import {
  chooseAuthority,
  isLeft,
  turnAt,
  type Choice,
} from '../../../src/domains/domain/certificates/authorities.ts';
import {
  freshAttempts,
  type AuthorityTurn,
  planned,
  type RenewalWork,
} from '../../../src/domains/domain/certificates/certificate-status.ts';
import { renewedCertificate } from '../../../src/domains/domain/attachment/domain-certificate.ts';
import { after, day, hour, live, minute, start } from '../../support/domains/known-domains.ts';

const now = after(70 * day);
const ago = (milliseconds: number) => new Date(now.getTime() - milliseconds);
const inFuture = (milliseconds: number) => new Date(now.getTime() + milliseconds);

const wanted: Choice['certificate'] = { kind: 'wanted', work: planned(now) };
/** Valid for 20 days more, of which a twentieth is a day. */
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
    ...{ lastAt, lastBy },
    turns: { first: { ...unknown, ...first }, second: { ...unknown, ...second } },
  };
  const next = { at: now, attempts, problem: undefined };
  const order = { authority: ordered ?? '', method: 'http-01', since: now } as const;
  const work: RenewalWork =
    ordered === undefined ? { step: 'planned', ...next } : { step: 'ordered', ...order, ...next };
  return { mayIssue, certificate: { ...certificate, work } };
};

describe('a new certificate is asked for at', () => {
  test.each<[string, string | undefined, Facts]>([
    ['the first, as long as it answers', 'first', {}],
    ['the first, though the second is away', 'first', { second: { awaySince: ago(day) } }],
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
      'the first, though it was away days ago, if nothing was tried since',
      'first',
      { first: { awaySince: ago(3 * day) }, lastAt: ago(3 * day) },
    ],
    [
      'the second, though nothing was tried for days, because the first asked us to wait',
      'second',
      { first: { awaySince: ago(3 * day), retryAt: inFuture(day) }, lastAt: ago(3 * day) },
    ],
    [
      'the second, after the clock was set back by days',
      'second',
      { first: { awaySince: inFuture(3 * day) }, lastAt: ago(11 * minute) },
    ],
    ['the second, where CAA allows only that', 'second', { mayIssue: ['second'] }],
    [
      'the first, where CAA allows only that, however long it is away',
      'first',
      { mayIssue: ['first'], first: { awaySince: ago(30 * day) } },
    ],
    ['nobody known, before CAA was looked up', undefined, { mayIssue: [] }],
  ])('%s', (_, authority, facts) => {
    expect(chooseAuthority(choice(facts), now)).toBe(authority);
  });
});

describe('a renewal is asked for at', () => {
  test.each<[string, string, number]>([
    ['the first, for a twentieth of the time that was left', 'first', 0.9],
    ['the second, after a twentieth of it', 'second', 1.1],
  ])('%s', (_, authority, share) => {
    // With 20 days left now, a bit more was left when it began.
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
      'not before either accepts it',
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
      'when the authority that has the order accepts it, though CAA is not known',
      inFuture(day),
      { mayIssue: [], ordered: 'first', first: { retryAt: inFuture(day) } },
    ],
    [
      'when the second accepts it, if that has the order',
      inFuture(day),
      { ordered: 'second', second: { retryAt: inFuture(day) } },
    ],
    [
      'when the first accepts it, if that has the order, though CAA allows only the second now',
      inFuture(day),
      { mayIssue: ['second'], ordered: 'first', first: { retryAt: inFuture(day) } },
    ],
    [
      'when all accept it, if it is not known which one is asked',
      inFuture(2 * day),
      { mayIssue: [], first: { retryAt: inFuture(day) }, second: { retryAt: inFuture(2 * day) } },
    ],
  ])('%s', (_, expected, facts) => {
    expect(turnAt(choice(facts), at)).toEqual(expected);
  });
});

describe('an order is given up', () => {
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
      'not when nobody has looked at it for days',
      false,
      'first',
      { first: { awaySince: ago(3 * day) }, lastBy: 'first', lastAt: ago(3 * day) },
    ],
    [
      'not where CAA allows no other',
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
