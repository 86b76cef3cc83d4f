import { describe, expect, test } from '@jest/globals';
import type { AuthorityFailureReason } from '../../../src/domains/domain/certificates/order.ts';
import {
  mayAskRenewal,
  planRenewal,
  postponeAttempt,
} from '../../../src/domains/domain/attachment/plan.ts';
import type { CustomDomain } from '../../../src/domains/domain/attachment/custom-domain.ts';
import {
  certificateFailed,
  certificateIssued,
  fenceOf,
  orderStarted,
} from '../../../src/domains/domain/attachment/certificate.ts';
import { dueWork } from '../../../src/domains/domain/attachment/schedule.ts';
import { reverify } from '../../../src/domains/domain/attachment/verification.ts';
import { hasRenewalPlan } from '../../../src/domains/domain/certificates/standing.ts';
import {
  nextRenewal,
  urgentFrom,
  wishedRenewalTime,
} from '../../../src/domains/domain/certificates/renewal.ts';
import {
  certificateOf,
  added,
  after,
  day,
  failure,
  hour,
  live,
  minute,
  ordered,
  removed,
  validity,
  verified,
} from '../../support/domains/known-domains.ts';

const now = after(10 * minute);
const fail = (domain: CustomDomain, reason: AuthorityFailureReason, at = now, retryAt?: Date) =>
  certificateFailed(
    domain,
    { ...fenceOf(domain), failure: failure(reason, retryAt), issuers: [] },
    at,
  );

describe('an order', () => {
  test('begins the next generation', () => {
    const { state, events, verdict } = orderStarted(verified, fenceOf(verified), now);
    expect(verdict).toBe('taken');
    expect(state).toMatchObject({ state: 'verified', generation: 1 });
    expect(certificateOf(state)).toMatchObject({
      status: 'issuing',
      isOrdered: true,
      nextAttemptAt: now,
    });
    expect(events).toMatchObject([
      { type: 'certificate_ordered', domainId: 'dom_1', generation: 1 },
    ]);
  });

  test('is accepted from one of twenty concurrent requests', () => {
    let state: CustomDomain = verified;
    const rivals = Array.from({ length: 20 }, () => fenceOf(verified));
    const verdicts = rivals.map((fence) => {
      const decision = orderStarted(state, fence, now);
      state = decision.state;
      return decision.verdict;
    });
    expect(verdicts.filter((verdict) => verdict === 'taken')).toHaveLength(1);
    expect(state.generation).toBe(1);
  });

  test('is not begun while another one runs', () => {
    expect(orderStarted(ordered, fenceOf(ordered), now)).toEqual({
      state: ordered,
      events: [],
      verdict: 'destroy',
    });
  });

  test('is due when its time has come', () => {
    expect(dueWork(verified, after(0))).toBeUndefined();
    expect(dueWork(verified, after(minute))).toBe('certificate');
    const later = postponeAttempt(ordered, after(hour)).state;
    const due = [now, after(hour)].map((at) => dueWork(later, at) === 'certificate');
    expect(due).toEqual([false, true]);
    expect(dueWork(removed, now)).toBeUndefined();
  });

  test('that waits for anything but time cannot be postponed', () => {
    const waiting = fail(ordered, 'rejected_name').state;
    for (const domain of [waiting, added, removed]) {
      expect(postponeAttempt(domain, after(hour))).toEqual({ state: domain, events: [] });
    }
  });
});

describe('a certificate', () => {
  test('makes the domain live and plans its renewal', () => {
    const { state, events, verdict } = certificateIssued(
      ordered,
      { ...fenceOf(ordered), ...validity },
      now,
    );
    expect(verdict).toBe('taken');
    expect(state).toMatchObject({ state: 'live', liveSince: now, generation: 1 });
    expect(certificateOf(state)).toMatchObject({
      ...validity,
      status: 'issued',
      isOrdered: false,
      attempts: undefined,
      nextAttemptAt: nextRenewal({ ...validity, host: live.host }, now),
    });
    const notAfter = validity.notAfter.toISOString();
    expect(events).toMatchObject([
      { type: 'certificate_issued', notAfter },
      { type: 'domain_live', host: live.host },
    ]);
  });

  test('renews that of a live domain, which is served throughout', () => {
    const renewing = orderStarted(live, fenceOf(live), after(60 * day)).state;
    expect(certificateOf(renewing)).toMatchObject({ ...validity, status: 'issued' });
    const next = { notBefore: after(60 * day), notAfter: after(150 * day) };
    const renewed = certificateIssued(renewing, { ...fenceOf(renewing), ...next }, after(60 * day));
    expect(renewed.state).toMatchObject({ state: 'live', liveSince: after(3 * minute) });
    expect(certificateOf(renewed.state)).toMatchObject(next);
    expect(renewed.events).toMatchObject([{ type: 'certificate_renewed' }]);
  });

  test('is not renewed at once, however far the clock is ahead of the authority’s', () => {
    const far = after(80 * day);
    const { state } = certificateIssued(ordered, { ...fenceOf(ordered), ...validity }, far);
    expect(certificateOf(state).nextAttemptAt).toEqual(after(80.5 * day));
  });

  test.each([
    ['of another attachment', ordered, { attachmentId: 'dom_0', generation: 1 }],
    ['of an earlier order', ordered, { attachmentId: 'dom_1', generation: 0 }],
    ['of a later order', ordered, { attachmentId: 'dom_1', generation: 2 }],
    ['after the removal', removed, fenceOf(removed)],
    ['before the verification', added, fenceOf(added)],
    ['that nobody ordered', verified, fenceOf(verified)],
    ['beside the one that is served', live, { ...fenceOf(live), notAfter: after(91 * day) }],
  ])('%s is destroyed', (_, domain, fence) => {
    const decision = certificateIssued(domain, { ...validity, ...fence }, now);
    expect(decision).toEqual({ state: domain, events: [], verdict: 'destroy' });
  });

  test('that is delivered twice changes the domain once', () => {
    const again = certificateIssued(live, { ...fenceOf(live), ...validity }, now);
    expect(again).toEqual({ state: live, events: [], verdict: 'taken' });
  });
});

describe('a failure', () => {
  test('is recorded with the next step', () => {
    const { state, events, verdict } = fail(ordered, 'challenge');
    expect(verdict).toBe('taken');
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
  ])('by %s is the problem %s', (reason, code, severity) => {
    expect(certificateOf(fail(ordered, reason).state).problem).toMatchObject({ code, severity });
  });

  test('of the authority leaves the order, any other ends it', () => {
    const kept = (['unavailable', 'rate_limited'] as const).map((reason) => fail(ordered, reason));
    expect(kept.every(({ state }) => certificateOf(state).isOrdered)).toBe(true);
    const reasons = ['order_gone', 'rejected_name', 'caa', 'dns', 'challenge'] as const;
    const ended = reasons.map((reason) => fail(ordered, reason).state);
    expect(ended.some((one) => certificateOf(one).isOrdered)).toBe(false);
    const anew = orderStarted(ended[0]!, fenceOf(ended[0]!), now);
    expect(anew).toMatchObject({ verdict: 'taken', state: { generation: 2 } });
  });

  test('before there is an order counts as well', () => {
    const { state } = fail(verified, 'rate_limited', now, after(hour));
    expect(certificateOf(state)).toMatchObject({
      attempts: { failed: 1, firstAt: now },
      isOrdered: false,
      nextAttemptAt: after(hour),
    });
  });

  test('ends the attempt that the owner requested, so that the next one counts as automatic', () => {
    const asked = reverify(verified, after(day)).state;
    const begun = orderStarted(asked, fenceOf(asked), after(day)).state;
    expect(certificateOf(begun).isManual).toBe(true);
    for (const reason of ['order_gone', 'challenge', 'caa', 'rejected_name'] as const) {
      expect(certificateOf(fail(begun, reason, after(day)).state).isManual).toBe(false);
    }
    for (const reason of ['unavailable', 'rate_limited'] as const) {
      expect(certificateOf(fail(begun, reason, after(day)).state).isManual).toBe(true);
    }
  });

  test('does not shorten the time that the authority asked for before', () => {
    const limited = fail(ordered, 'rate_limited', now, after(day)).state;
    const gone = fail(limited, 'order_gone', after(11 * minute)).state;
    expect(certificateOf(gone).nextAttemptAt).toEqual(after(day));
    expect(certificateOf(postponeAttempt(gone, after(hour)).state).nextAttemptAt).toEqual(
      after(day),
    );
    expect(
      certificateOf(orderStarted(gone, fenceOf(gone), after(day)).state).nextAttemptAt,
    ).toEqual(after(day));
  });

  test('of another generation, or of a domain that is gone, changes nothing', () => {
    const late = { ...fenceOf(ordered), generation: 0, failure: failure('challenge'), issuers: [] };
    const untouched = (domain: CustomDomain) => ({ state: domain, events: [], verdict: 'destroy' });
    expect(certificateFailed(ordered, late, now)).toEqual(untouched(ordered));
    for (const domain of [added, removed]) expect(fail(domain, 'dns')).toEqual(untouched(domain));
  });

  test('that comes after its order succeeded changes nothing', () => {
    expect(fail(live, 'unavailable')).toEqual({ state: live, events: [], verdict: 'destroy' });
  });

  test('of a renewal leaves the site as it is, and is retried without end', () => {
    const renewing = orderStarted(live, fenceOf(live), after(60 * day)).state;
    for (const reason of ['rejected_name', 'challenge'] as const) {
      const { state, events } = fail(renewing, reason, after(95 * day));
      expect(state.state).toBe('live');
      expect(certificateOf(state)).toMatchObject({ ...validity, status: 'issued' });
      expect(certificateOf(state).nextAttemptAt).toEqual(after(95 * day + 6 * hour));
      expect(events).toMatchObject([{ isRenewal: true }]);
    }
  });
});

const suggested = (start: Date, end: Date, askAgainAt = after(day)) => ({
  window: { start, end, askAgainAt },
  chance: 0.5,
});

describe('a renewal', () => {
  test('is planned for the time that the authority suggests, but not too late', () => {
    const at = (start: Date, end: Date) =>
      certificateOf(planRenewal(live, suggested(start, end), now).state).nextAttemptAt;
    expect(at(after(50 * day), after(52 * day))).toEqual(after(51 * day));
    expect(at(after(89 * day), after(95 * day))).toEqual(after(85.5 * day));
    expect(urgentFrom(validity)).toEqual(after(85.5 * day));
  });

  test('is due at once when the window of the authority is over', () => {
    const { state } = planRenewal(live, suggested(after(-2 * day), after(-day)), now);
    expect(dueWork(state, now)).toBe('certificate');
  });

  test.each([
    ['ends before it begins', after(52 * day), after(50 * day)],
    ['has no length', after(50 * day), after(50 * day)],
    ['begins when the certificate has ended', after(90 * day), after(91 * day)],
  ])('is planned as before when the window %s', (_, start, end) => {
    const { state, verdict } = planRenewal(live, suggested(start, end), now);
    expect(verdict).toBe('makes_no_sense');
    expect(certificateOf(state).nextAttemptAt).toEqual(certificateOf(live).nextAttemptAt);
    expect(hasRenewalPlan(state)).toBe(false);
    expect([after(hour), after(day)].map((at) => mayAskRenewal(state, at))).toEqual([false, true]);
  });

  test('is not planned again while one is under way, or when the domain is not live', () => {
    const renewing = orderStarted(live, fenceOf(live), after(60 * day)).state;
    for (const domain of [renewing, added, ordered, removed]) {
      const plan = planRenewal(domain, suggested(after(50 * day), after(51 * day)), now);
      expect(plan).toEqual({ state: domain, events: [], verdict: 'unchanged' });
      expect(mayAskRenewal(domain, now)).toBe(false);
    }
  });

  test('is not requested before the authority’s Retry-After, unless the clock was set back', () => {
    const { state } = planRenewal(live, suggested(after(49 * day), after(51 * day)), now);
    const may = (at: Date) => mayAskRenewal(state, at);
    expect([after(hour), after(day)].map(may)).toEqual([false, true]);
    expect(may(after(-hour))).toBe(true);
    expect(hasRenewalPlan(state)).toBe(true);
  });

  test('does not follow another at once where the authority always wants one now', () => {
    expect([now, after(11 * hour), after(13 * hour)].map((at) => mayAskRenewal(live, at))).toEqual([
      ...[false, false, true],
    ]);
    expect(hasRenewalPlan(live)).toBe(false);
  });

  test('is asked for twice a day where the authority names no window', () => {
    const { state, verdict } = planRenewal(live, { window: undefined, chance: 0 }, now);
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

  test('is spread over what is left of a window that ends too late', () => {
    const span = { start: after(81.5 * day), end: after(95 * day) };
    expect(wishedRenewalTime(validity, span, 0.5)).toEqual(after(83.5 * day));
  });
});
