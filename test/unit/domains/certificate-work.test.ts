import { describe, expect, test } from '@jest/globals';
import {
  planDomainRenewal,
  postponeAttempt,
  renewedCertificate,
  workOf,
} from '../../../src/domains/domain/attachment/domain-certificate.ts';
import type { CustomDomain } from '../../../src/domains/domain/attachment/custom-domain.ts';
import { dueWork } from '../../../src/domains/domain/attachment/due-work.ts';
import { reverify } from '../../../src/domains/domain/attachment/checks.ts';
import {
  claimOrder,
  leaveOrder,
  loseOrder,
  orderOf,
  postponed,
  subjectOf,
  type CertificateWork,
} from '../../../src/domains/domain/certificates/certificate-work.ts';
import {
  type AuthorityFailureReason,
  mayAskFor,
  nextStepAt,
} from '../../../src/domains/domain/certificates/certificate-status.ts';
import {
  nextRenewal,
  urgentFrom,
  wishedRenewalTime,
} from '../../../src/domains/domain/certificates/renewal.ts';
import {
  settleOrder,
  type OrderResult,
} from '../../../src/domains/domain/certificates/settle-order.ts';
import { ownTerms, ownWork, unknownOwnName } from '../../../src/domains/domain/own/own-name.ts';
import {
  added,
  after,
  begin,
  bring,
  certificateOf,
  day,
  fail,
  failure,
  hour,
  live,
  minute,
  ordered,
  removed,
  unused,
  validity,
  verified,
} from '../../support/domains/known-domains.ts';

const now = after(10 * minute);
const [first, second] = ['authority.test', 'second.test'];

const ourOwn = (host: string): CertificateWork => {
  const kinds = { first: 'own', later: 'own_renewal', counted: 'own_counted' } as const;
  const payer = { accountId: 'acct_1', registrableDomain: 'sites.test' };
  return ownWork(unknownOwnName(host), ownTerms({ host, payer, kinds }), []);
};

const withAuthorities = (work: CertificateWork): CertificateWork => ({
  ...work,
  terms: { ...work.terms, mayIssue: [first, second] },
});

const claim = (
  work: CertificateWork,
  { at = now, known = work, authority = first, use = unused } = {},
) => claimOrder(work, { known, authority, kind: 'new', use }, at);

const begunFor = (work: CertificateWork, at = now): CertificateWork => claim(work, { at }).work!;

const settleAt = (work: CertificateWork, result: OrderResult, order = work, at = now) =>
  settleOrder(work, { ordered: order, result, issuers: [] }, at);

const brought = ({ terms: { host } }: CertificateWork, its = validity): OrderResult => ({
  kind: 'issued',
  certificate: { host, chain: '', privateKey: '', ...its },
});

const failed = (reason: AuthorityFailureReason, retryAt?: Date): OrderResult => ({
  kind: 'failed',
  failure: failure(reason, retryAt),
});

const dueAt = ({ certificate }: CertificateWork) => nextStepAt(certificate.work);

describe.each([
  ['a custom domain', workOf(verified)!],
  ['the host of a project', ourOwn('shop.sites.test')],
  ["the platform's pair", ourOwn('*.sites.test')],
])('the certificate of %s', (_, one) => {
  const wanted = withAuthorities(one);
  const order = begunFor(wanted);
  const issued = settleAt(order, brought(order)).work!;

  test('is ordered under the next number, which is current from then on', () => {
    const { work, outcome, ledger } = claim(wanted);
    expect(outcome).toEqual({ kind: 'begun' });
    expect(orderOf(work!)).toMatchObject({ authority: first, since: now, at: now });
    expect(subjectOf(work!)).toBe(`${wanted.terms.key}:1`);
    const { host, payer } = wanted.terms;
    for (const entry of ledger!.entered!)
      expect(entry).toMatchObject({ host, ...payer, authority: first, orderKey: subjectOf(work!) });
  });

  test('is ordered by only one of twenty workers', () => {
    let stored = wanted;
    const outcomes = Array.from({ length: 20 }, () => {
      const { work = stored, outcome } = claim(stored, { known: wanted });
      stored = work;
      return outcome.kind;
    });
    expect(outcomes.filter((kind) => kind === 'begun')).toHaveLength(1);
    expect(stored.generation).toBe(1);
  });

  test('waits for a budget, and is not ordered until then', () => {
    const { work, outcome } = claim(wanted, {
      use: { ...unused, automaticFailures: [now, now, now] },
    });
    const nextAt = new Date(now.getTime() + hour);
    expect(outcome).toMatchObject({ kind: 'held_up', hold: { nextAt } });
    expect([orderOf(work!), dueAt(work!)]).toEqual([undefined, nextAt]);
  });

  test('ends its order, and is renewed by shares of its lifetime', () => {
    const { outcome, certificate, endsOrder } = settleAt(order, brought(order));
    expect(outcome).toMatchObject({ kind: 'issued', isRenewal: false, authority: first });
    expect([certificate?.notAfter, endsOrder]).toEqual([validity.notAfter, subjectOf(order)]);
    const at = nextRenewal({ ...validity, host: wanted.terms.host }, now);
    const work = { step: 'planned', at, attempts: undefined };
    expect(issued.certificate).toMatchObject({ ...validity, issuedBy: first, work });
    const renewal = settleAt(begunFor(issued, at), brought(order), undefined, at);
    expect(renewal.outcome).toMatchObject({ kind: 'issued', isRenewal: true });
  });

  test('is not renewed at once, however far the clock is ahead of the authority’s', () => {
    const late = settleAt(order, brought(order), order, after(80 * day));
    expect(dueAt(late.work!)).toEqual(after(80.5 * day));
  });

  test.each([
    ['under an earlier order', { ...order, generation: 0 }],
    ['under a later order', { ...order, generation: 2 }],
    ['for another name', { ...order, terms: { ...order.terms, key: 'other' } }],
  ])('is destroyed when it arrives %s', (__, other) => {
    const late = settleAt(order, brought(order), other);
    expect(late).toMatchObject({ outcome: { kind: 'too_late' }, endsOrder: subjectOf(other) });
    expect([late.work, late.certificate]).toEqual([undefined, undefined]);
    expect(settleAt(order, failed('challenge'), other)).not.toHaveProperty('work');
  });

  test('is destroyed when it is no longer needed, or arrives while another one is served', () => {
    const gone = settleOrder(
      undefined,
      { ordered: order, result: brought(order), issuers: [] },
      now,
    );
    const another = settleAt(
      issued,
      brought(order, { ...validity, notAfter: after(91 * day) }),
      order,
    );
    for (const late of [gone, another]) expect(late.outcome.kind).toBe('too_late');
  });

  test('changes the state once if it arrives twice', () => {
    const again = settleAt(issued, brought(order), order);
    expect(again).toEqual({ outcome: { kind: 'unchanged' }, endsOrder: subjectOf(order) });
  });

  test("keeps its order after a failure on the authority's side", () => {
    for (const reason of ['unavailable', 'rate_limited'] as const) {
      const { work, endsOrder } = settleAt(order, failed(reason));
      expect(orderOf(work!)).toMatchObject({ authority: first, at: after(11 * minute) });
      expect(endsOrder).toBeUndefined();
    }
    for (const reason of ['order_gone', 'rejected_name', 'caa', 'dns', 'challenge'] as const) {
      const { work, endsOrder } = settleAt(order, failed(reason));
      expect([orderOf(work!), endsOrder]).toEqual([undefined, subjectOf(order)]);
    }
  });

  test('is not requested before the time that the authority set, whatever fails then', () => {
    const alone = { ...order, terms: { ...order.terms, mayIssue: [first] } };
    const limited = settleAt(alone, failed('rate_limited', after(day))).work!;
    const gone = settleAt(limited, failed('order_gone'), alone, after(11 * minute)).work!;
    expect([dueAt(gone), dueAt(postponed(gone, after(hour)))]).toEqual([after(day), after(day)]);
  });

  test('does not fail because of an order that already ended', () => {
    const { work, outcome, ledger } = settleAt(issued, failed('challenge'), order);
    expect([work, outcome]).toMatchObject([undefined, { kind: 'failed', isLate: true }]);
    expect(ledger === undefined).toBe(order.terms.isOurs);
  });

  test('is requested elsewhere once its authority has been unavailable for long, or its answer was lost', () => {
    expect(leaveOrder(order, order, after(day)).outcome.kind).toBe('unchanged');
    const away = settleAt(order, failed('unavailable')).work!;
    const again = settleAt(away, failed('unavailable'), away, after(21 * minute)).work!;
    const left = leaveOrder(again, order, after(22 * minute));
    expect(left.outcome).toEqual({ kind: 'left', authority: first });
    const lost = loseOrder(order, order);
    expect(lost.ledger?.freed).toContainEqual({ kind: 'issued', orderKey: subjectOf(order) });
    for (const { work, endsOrder } of [left, lost])
      expect([orderOf(work!), endsOrder]).toEqual([undefined, subjectOf(order)]);
    expect(loseOrder(issued, order).outcome.kind).toBe('unchanged');
  });

  test('waits while the authority works on it, and no longer, whatever the authority said before', () => {
    const limited = settleAt(order, failed('rate_limited', after(day))).work!;
    for (const one of [order, limited]) {
      const { work } = settleAt(one, { kind: 'processing', askAgainAfterMs: hour });
      expect(dueAt(work!)).toEqual(new Date(now.getTime() + hour));
    }
    const late = settleAt(issued, { kind: 'processing', askAgainAfterMs: hour }, order);
    expect(late.outcome.kind).toBe('unchanged');
  });
});

test('a platform name is retried after 1, 10 and then every 100 minutes, whatever was refused', () => {
  const waits = (reason: AuthorityFailureReason) => {
    let [work, at] = [ourOwn('shop.sites.test'), now];
    return Array.from({ length: 5 }, () => {
      work = settleAt(begunFor(work, at), failed(reason), undefined, at).work!;
      const wait = dueAt(work)!.getTime() - at.getTime();
      at = dueAt(work)!;
      return wait / minute;
    });
  };
  expect(waits('challenge')).toEqual([1, 10, 100, 100, 100]);
  for (const reason of ['caa', 'rejected_name'] as const)
    expect(waits(reason)).toEqual([100, 100, 100, 100, 100]);
});

describe('an order for a domain', () => {
  test('is reported with its number', () => {
    const { state, events } = begin(verified, now);
    expect(certificateOf(state)).toMatchObject({ status: 'issuing', isOrdered: true });
    expect(events).toMatchObject([
      { type: 'certificate_ordered', domainId: 'dom_1', generation: 1 },
    ]);
    expect(begin(ordered, now)).toMatchObject({ state: ordered, events: [] });
  });

  test('is due when its time has come', () => {
    expect(dueWork(verified, after(0))).toBeUndefined();
    expect(dueWork(verified, after(minute))).toBe('certificate');
    const later = postponeAttempt(ordered, after(hour));
    const due = [now, after(hour)].map((at) => dueWork(later, at) === 'certificate');
    expect(due).toEqual([false, true]);
    expect(dueWork(removed, now)).toBeUndefined();
  });

  test('cannot be postponed unless it only waits for its time', () => {
    const waiting = fail(ordered, 'rejected_name', now).state;
    for (const domain of [waiting, added, removed])
      expect(postponeAttempt(domain, after(hour))).toEqual(domain);
  });
});

describe('the certificate of a domain', () => {
  test('makes it live', () => {
    const { state, events } = bring(ordered, now);
    expect(state).toMatchObject({ state: 'live', liveSince: now, generation: 1 });
    const notAfter = validity.notAfter.toISOString();
    expect(events).toMatchObject([
      { type: 'certificate_issued', notAfter },
      { type: 'domain_live', host: live.host },
    ]);
  });

  test('replaces that of a live domain, which is served throughout', () => {
    const renewing = begin(live, after(60 * day)).state;
    expect(certificateOf(renewing)).toMatchObject({ ...validity, status: 'issued' });
    const next = { notBefore: after(60 * day), notAfter: after(150 * day) };
    const { state, events } = bring(renewing, after(60 * day), next);
    expect(state).toMatchObject({ state: 'live', liveSince: after(3 * minute), certificate: next });
    expect(events).toMatchObject([{ type: 'certificate_renewed' }]);
  });

  test.each([
    ['after the removal', removed],
    ['before the verification', added],
    ['without an order', verified],
  ])('changes nothing if it arrives %s', (_, domain) => {
    for (const late of [bring(domain, now), fail(domain, 'dns', now)]) {
      expect(late).toMatchObject({ state: domain, events: [], cause: { kind: 'attempt' } });
      expect(late).not.toHaveProperty('certificate');
    }
  });
});

describe('a failure', () => {
  test('ends an order that only the owner can replace, even if it could be continued', () => {
    const order = workOf(ordered)!;
    const { work, endsOrder } = settleAt(order, failed('unavailable'), order, after(40 * day));
    expect([work?.certificate.work.step, endsOrder]).toEqual(['waits_for_owner', subjectOf(order)]);
  });

  test('is recorded with the next step', () => {
    const { state, events } = fail(ordered, 'challenge', now);
    expect(certificateOf(state)).toMatchObject({
      status: 'failed',
      attempts: { failed: 1, firstAt: after(2 * minute), lastAt: now },
      nextAttemptAt: after(11 * minute),
      problem: { code: 'challenge_unreachable', seen: 'says the authority' },
    });
    const details = { problem: 'challenge_unreachable', attempt: 1, isRenewal: false };
    expect(events).toMatchObject([{ type: 'certificate_failed', ...details }]);
  });

  test.each<[AuthorityFailureReason, string, string]>([
    ['order_gone', 'ca_unavailable', 'ours'],
    ['rate_limited', 'ca_rate_limited', 'ours'],
    ['unavailable', 'ca_unavailable', 'ours'],
    ['rejected_name', 'ca_rejected_name', 'final'],
    ['caa', 'caa_forbids_issuer', 'blocking'],
    ['dns', 'dns_lookup_failed', 'blocking'],
    ['challenge', 'challenge_unreachable', 'blocking'],
  ])('because of %s is the problem %s', (reason, code, severity) => {
    const { problem } = certificateOf(fail(ordered, reason, now).state);
    expect(problem).toMatchObject({ code, severity });
  });

  test('ends the attempt that the owner requested, so that the next one counts as automatic', () => {
    const asked = reverify(verified, after(day)).state;
    const begun = begin(asked, after(day)).state;
    expect(certificateOf(begun).isManual).toBe(true);
    const isManual = (reason: AuthorityFailureReason) =>
      certificateOf(fail(begun, reason, after(day)).state).isManual;
    const ended = ['order_gone', 'challenge', 'caa', 'rejected_name'] as const;
    expect(ended.map(isManual)).toEqual([false, false, false, false]);
    expect((['unavailable', 'rate_limited'] as const).map(isManual)).toEqual([true, true]);
  });

  test('of a renewal does not affect the site, and is retried indefinitely', () => {
    const renewing = begin(live, after(60 * day)).state;
    for (const reason of ['rejected_name', 'challenge'] as const) {
      const { state, events } = fail(renewing, reason, after(95 * day));
      expect(state.state).toBe('live');
      expect(certificateOf(state)).toMatchObject({ ...validity, status: 'issued' });
      expect(certificateOf(state).nextAttemptAt).toEqual(after(95 * day + 6 * hour));
      expect(events).toMatchObject([{ isRenewal: true }]);
    }
  });
});

const mayAskRenewal = (domain: CustomDomain, at: Date): boolean => {
  const certificate = renewedCertificate(domain);
  return certificate !== undefined && mayAskFor(certificate, at);
};

const suggested = (start: Date, end: Date, askAgainAt = after(day)) => ({
  window: { start, end, askAgainAt },
  chance: 0.5,
});

const plan = (domain: CustomDomain, start: Date, end: Date) =>
  planDomainRenewal(domain, suggested(start, end), now);

describe('a renewal', () => {
  test('is planned for the time that the authority suggests, but not too late', () => {
    const at = (start: Date, end: Date) =>
      certificateOf(plan(live, start, end).state).nextAttemptAt;
    expect(at(after(50 * day), after(52 * day))).toEqual(after(51 * day));
    expect(at(after(89 * day), after(95 * day))).toEqual(after(85.5 * day));
    expect(urgentFrom(validity)).toEqual(after(85.5 * day));
  });

  test('is due at once when the window of the authority is over', () => {
    const { state } = plan(live, after(-2 * day), after(-day));
    expect(dueWork(state, now)).toBe('certificate');
  });

  test.each([
    ['ends before it begins', after(52 * day), after(50 * day)],
    ['has no length', after(50 * day), after(50 * day)],
    ['begins after the certificate has ended', after(90 * day), after(91 * day)],
  ])('is planned as before when the window %s', (_, start, end) => {
    const { state, verdict } = plan(live, start, end);
    expect(verdict).toBe('makes_no_sense');
    expect(certificateOf(state).nextAttemptAt).toEqual(certificateOf(live).nextAttemptAt);
    expect(state.certificate).toMatchObject({ hasWindow: false });
    expect([after(hour), after(day)].map((at) => mayAskRenewal(state, at))).toEqual([false, true]);
  });

  test('is not planned again while one is under way, or when the domain is not live', () => {
    const renewing = begin(live, after(60 * day)).state;
    for (const domain of [renewing, added, ordered, removed]) {
      const planned = plan(domain, after(50 * day), after(51 * day));
      expect(planned).toEqual({ state: domain, events: [], verdict: 'unchanged' });
      expect(mayAskRenewal(domain, now)).toBe(false);
    }
  });

  test('is not requested before the authority’s Retry-After, unless the clock was set back', () => {
    const { state } = plan(live, after(49 * day), after(51 * day));
    const may = (at: Date) => mayAskRenewal(state, at);
    expect([after(hour), after(day)].map(may)).toEqual([false, true]);
    expect(may(after(-hour))).toBe(true);
    expect(state.certificate).toMatchObject({ hasWindow: true });
  });

  test('does not follow another at once if the authority always requests one now', () => {
    expect([now, after(11 * hour), after(13 * hour)].map((at) => mayAskRenewal(live, at))).toEqual([
      ...[false, false, true],
    ]);
    expect(live.certificate).toMatchObject({ hasWindow: false });
  });

  test('has its window requested twice a day while the authority offers none', () => {
    const { state, verdict } = planDomainRenewal(live, { window: undefined, chance: 0 }, now);
    expect(verdict).toBe('unchanged');
    const again = [11 * hour, 13 * hour].map((wait) => mayAskRenewal(state, after(wait)));
    expect(again).toEqual([false, true]);
  });

  test('is spread over the window that the authority suggests', () => {
    const span = { start: after(50 * day), end: after(52 * day) };
    const at = (chance: number) => wishedRenewalTime(validity, span, chance);
    expect([0, 0.5, 1].map(at)).toEqual([after(50 * day), after(51 * day), after(52 * day)]);
    const late = { start: after(100 * day), end: after(101 * day) };
    expect(wishedRenewalTime(validity, late, 0)).toEqual(urgentFrom(validity));
  });

  test('is spread over the rest of a window that ends too late', () => {
    const span = { start: after(81.5 * day), end: after(95 * day) };
    expect(wishedRenewalTime(validity, span, 0.5)).toEqual(after(83.5 * day));
  });
});
