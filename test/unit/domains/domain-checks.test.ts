import {
  askToVerify,
  recordCheck,
  reverify,
  reverifyAllowedAt,
  verify,
  verifyAllowedAt,
} from '../../../src/domains/domain/attachment/checks.ts';
import type { CustomDomain } from '../../../src/domains/domain/attachment/custom-domain.ts';
import { healthOf } from '../../../src/domains/domain/attachment/serving.ts';
import {
  freshAttempts,
  planned,
} from '../../../src/domains/domain/certificates/certificate-status.ts';
import {
  added,
  after,
  badReport,
  begin,
  certificateOf,
  day,
  fail,
  hour,
  live,
  minute,
  missing,
  moment,
  ordered,
  removed,
  report,
  verified,
} from '../../support/domains/known-domains.ts';
import { codeOf } from '../../support/race.ts';
import { describe, expect, test } from '@jest/globals';

const tooEarly = (code: string, time: string) =>
  expect.objectContaining({
    name: 'DomainError',
    code,
    message: expect.stringContaining(time),
  });

const failed = (reason: Parameters<typeof fail>[1], at: Date, domain = ordered): CustomDomain =>
  fail(domain, reason, at).state;

describe('a check of a domain that was added', () => {
  test('verifies it and orders a certificate at once', () => {
    const now = after(minute);
    const { state, events } = recordCheck(added, report(now), moment(now));
    expect(state).toMatchObject({ state: 'verified', verifiedAt: now });
    expect(state.dns).toMatchObject({ report: report(now), lastCheckedAt: now });
    expect(certificateOf(state)).toMatchObject({
      status: 'issuing',
      nextAttemptAt: now,
      isManual: false,
      waitsForDns: false,
    });
    expect(events).toMatchObject([
      { type: 'domain_verified', domainId: 'dom_1', host: added.host },
    ]);
  });

  test('stores the report and plans the next check when something is wrong', () => {
    const now = after(7 * minute);
    const { state, events } = recordCheck(added, badReport(now), moment(now));
    expect(state.dns).toMatchObject({ report: badReport(now), nextCheckAt: after(10 * minute) });
    expect({ state: state.state, events }).toEqual({ state: 'added', events: [] });
  });

  test("removes it after 30 days without success, counted from the owner's last request", () => {
    const now = after(30 * day);
    const { state, events } = recordCheck(added, badReport(now), moment(now));
    expect(state).toMatchObject({ state: 'removed', reason: 'expired' });
    expect(state.dns).toMatchObject({ report: badReport(now), nextCheckAt: undefined });
    expect(events).toMatchObject([{ type: 'domain_removed', reason: 'expired' }]);
    const asked = askToVerify(added, after(20 * day)).state;
    expect(recordCheck(asked, badReport(now), moment(now)).state.state).toBe('added');
    expect(recordCheck(added, report(now), moment(now)).state.state).toBe('verified');
  });

  test('changes nothing when a later one finished first', () => {
    const later = recordCheck(added, badReport(after(3 * minute)), moment(after(3 * minute))).state;
    const overtaken = report(after(2 * minute));
    expect(recordCheck(later, overtaken, moment(after(4 * minute)))).toEqual({
      state: later,
      events: [],
    });
    const clockSetBack = moment(after(2 * minute));
    expect(recordCheck(later, overtaken, clockSetBack).state.state).toBe('verified');
  });
});

describe('a check that the owner requests', () => {
  test('is allowed every ten seconds', () => {
    const { state, events } = askToVerify(added, after(0));
    expect(events).toEqual([]);
    const asking = (milliseconds: number) => () => askToVerify(state, after(milliseconds));
    expect(asking(0)).toThrow(tooEarly('verify_too_early', 'in 10 seconds'));
    expect(asking(9_001)).toThrow(tooEarly('verify_too_early', 'in 1 second.'));
    expect(asking(10_000)().state.dns.lastVerifyAskedAt).toEqual(after(10_000));
    expect(asking(-day)().state.dns.lastVerifyAskedAt).toEqual(after(-day));
  });

  test('restarts the frequent checks', () => {
    const asked = askToVerify(added, after(5 * day)).state;
    const now = after(5 * day + 3000);
    const { state } = verify(asked, badReport(now), moment(now));
    expect(state.dns.nextCheckAt).toEqual(after(5 * day + minute));
  });
});

describe('a later check', () => {
  test('never withdraws a verification', () => {
    for (const domain of [verified, live]) {
      const now = after(day);
      const { state } = recordCheck(domain, badReport(now), moment(now));
      expect(state.state).toBe(domain.state);
      expect(state.dns.report?.problems).toEqual([missing]);
      expect(state.dns.nextCheckAt?.getTime()).toBeGreaterThan(now.getTime());
    }
  });

  test('comes 4, 12, 28 and 60 minutes after a live domain leads elsewhere, and otherwise hourly', () => {
    const begin = 60 * day;
    let state: CustomDomain = live;
    let at = after(begin);
    const waits = Array.from({ length: 6 }, () => {
      ({ state } = recordCheck(state, badReport(at), moment(at)));
      at = state.dns.nextCheckAt!;
      return (at.getTime() - after(begin).getTime()) / minute;
    });
    expect(waits).toEqual([4, 12, 28, 60, 120, 180]);
    const right = recordCheck(state, report(at), moment(at));
    expect(right.state.dns.nextCheckAt).toEqual(after(begin + 240 * minute));
    const again = recordCheck(
      right.state,
      badReport(after(begin + day)),
      moment(after(begin + day)),
    );
    expect(again.state.dns.nextCheckAt).toEqual(after(begin + day + 4 * minute));
  });

  test('is frequent again after the verification', () => {
    const late = recordCheck(added, report(after(5 * day)), moment(after(5 * day))).state;
    const now = after(5 * day + 3 * minute);
    const { state } = recordCheck(late, report(now), moment(now));
    expect(state.dns.nextCheckAt).toEqual(after(5 * day + 5 * minute));
  });

  test('continues as long as the domain exists', () => {
    const now = after(500 * day);
    const { state } = recordCheck(live, report(now), moment(now));
    expect(state.dns.nextCheckAt).toEqual(after(500 * day + hour));
    const waiting = recordCheck(verified, report(now), moment(now)).state;
    expect(waiting.dns.nextCheckAt).toEqual(after(501 * day));
  });

  test('of a removed domain changes nothing', () => {
    const now = after(day);
    expect(recordCheck(removed, report(now), moment(now))).toEqual({ state: removed, events: [] });
  });

  test('postpones a due attempt until the DNS is correct', () => {
    const [due, soon, later] = [after(2 * minute), after(40 * hour), after(41 * hour)];
    const held = recordCheck(verified, badReport(due), moment(due)).state;
    expect(certificateOf(held)).toMatchObject({
      status: 'failed',
      waitsForDns: true,
      nextAttemptAt: undefined,
      problem: missing,
    });
    const still = recordCheck(held, badReport(soon), moment(soon)).state;
    expect(certificateOf(still)).toEqual(certificateOf(held));
    const free = recordCheck(still, report(later), moment(later)).state;
    expect(certificateOf(free)).toMatchObject({ waitsForDns: false, nextAttemptAt: later });
  });

  test('comes every hour while an attempt waits for it', () => {
    const due = after(60 * day);
    const held = recordCheck(verified, badReport(due), moment(due)).state;
    expect(certificateOf(held)).toMatchObject({ status: 'failed', waitsForDns: true });
    expect(held.dns.nextCheckAt).toEqual(after(60 * day + hour));
  });

  test('does not delay an order that is under way, or an attempt that is not due', () => {
    const now = after(10 * minute);
    expect(certificateOf(recordCheck(ordered, badReport(now), moment(now)).state)).toEqual(
      certificateOf(ordered),
    );
    expect(certificateOf(recordCheck(live, badReport(now), moment(now)).state)).toEqual(
      certificateOf(live),
    );
  });

  test('makes an attempt that CAA forbade wait as long as after any other failure', () => {
    const refused = failed('caa', after(10 * minute));
    expect(certificateOf(refused)).toMatchObject({ waitsForDns: true, nextAttemptAt: undefined });
    const now = after(10 * minute + 1000);
    const certificate = certificateOf(recordCheck(refused, report(now), moment(now)).state);
    expect(certificate).toMatchObject({ waitsForDns: false, nextAttemptAt: after(11 * minute) });
  });
});

describe('Re-verify', () => {
  test('starts a fresh attempt, half an hour after the last one', () => {
    const again = begin(failed('challenge', after(5 * minute)), after(19 * minute)).state;
    const twice = failed('challenge', after(20 * minute), again);
    const asking = (at: Date) => () => reverify(twice, at);
    expect(asking(after(21 * minute))).toThrow(tooEarly('reverify_too_early', 'in 29 minutes'));
    expect(asking(after(-day))).toThrow(tooEarly('reverify_too_early', 'in 30 minutes'));
    const now = after(50 * minute);
    const { state, events } = asking(now)();
    expect(events).toEqual([]);
    expect(state).toMatchObject({ state: 'verified', generation: twice.generation });
    expect(certificateOf(state)).toMatchObject({
      status: 'issuing',
      isManual: true,
      nextAttemptAt: now,
      attempts: { failed: 0 },
      problem: undefined,
    });
    expect(() => reverify(state, after(51 * minute))).toThrow(
      tooEarly('reverify_too_early', '29 minutes'),
    );
  });

  test('counts its pause from the verification if nothing was tried yet', () => {
    expect(() => reverify(verified, after(30 * minute))).toThrow(
      tooEarly('reverify_too_early', '60 seconds'),
    );
    expect(certificateOf(reverify(verified, after(31 * minute)).state).isManual).toBe(true);
  });

  test('continues the order that is under way', () => {
    const { state } = reverify(ordered, after(day));
    expect(certificateOf(state).isOrdered).toBe(true);
    expect(state.generation).toBe(ordered.generation);
  });

  test('waits for the authority’s Retry-After', () => {
    const waiting = fail(ordered, 'rate_limited', after(3 * minute), { retryAt: after(day) });
    const asking = () => reverify(waiting.state, after(3 * hour));
    expect(asking).toThrow(tooEarly('reverify_too_early', 'in 21 hours'));
    expect(certificateOf(reverify(waiting.state, after(day)).state).nextAttemptAt).toEqual(
      after(day),
    );
  });
});

describe('the health of a live domain', () => {
  test('is healthy as long as there is no problem', () => {
    expect(healthOf(live, after(day))).toEqual({ kind: 'healthy' });
    expect([added, verified, removed].map((one) => healthOf(one, after(day)))).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  test('is at risk when its DNS or a renewal is wrong, and lost when the certificate expires', () => {
    const now = after(70 * day);
    const astray = recordCheck(live, badReport(now), moment(now)).state;
    expect(healthOf(astray, now)).toEqual({ kind: 'at_risk', problem: missing });
    expect(healthOf(astray, after(90 * day))).toEqual({
      kind: 'certificate_expired',
      problem: missing,
    });
    const renewing = begin(live, now).state;
    expect(healthOf(failed('unavailable', now, renewing), now)).toMatchObject({
      kind: 'at_risk',
      problem: { code: 'ca_unavailable', seen: 'says the authority' },
    });
  });
});

const refusalOf = (act: () => unknown): unknown => {
  try {
    act();
    return undefined;
  } catch (error) {
    return codeOf(error);
  }
};

const isVerified = (
  domain: CustomDomain,
): domain is Extract<CustomDomain, { readonly state: 'verified' }> => domain.state === 'verified';
const [waiting] = [verified].filter(isVerified);
if (!waiting) throw new Error('it is not verified');
const { dns } = added;
const asked = { ...added, dns: { ...dns, lastVerifyAskedAt: after(hour) } };

test('the next Verify is allowed exactly when the page says, to the millisecond', () => {
  const at = verifyAllowedAt(asked, after(hour + 1));
  expect(at).toEqual(after(hour + 10_000));
  const early = new Date(at.getTime() - 1);
  expect(refusalOf(() => askToVerify(asked, early))).toBe('verify_too_early');
  expect(refusalOf(() => askToVerify(asked, at))).toBeUndefined();
});

test('a first Verify is allowed at once, and so is one after the clock was set back', () => {
  expect(verifyAllowedAt(added, after(minute))).toEqual(after(minute));
  expect(verifyAllowedAt(asked, after(minute))).toEqual(after(minute));
});

test('the next Re-verify is allowed exactly when the page says, to the millisecond', () => {
  const at = reverifyAllowedAt(waiting, after(2 * minute));
  expect(at).toEqual(after(31 * minute));
  const early = new Date(at.getTime() - 1);
  expect(refusalOf(() => reverify(verified, early))).toBe('reverify_too_early');
  expect(refusalOf(() => reverify(verified, at))).toBeUndefined();
});

test('the next Re-verify is never further away than the pause, unless the authority says so', () => {
  expect(reverifyAllowedAt(waiting, after(-hour))).toEqual(after(-hour / 2));
  const turns = { 'authority.test': { awaySince: undefined, retryAt: after(3 * hour) } };
  const attempts = { ...freshAttempts(after(minute)), turns };
  const told = { ...waiting.certificate, work: { ...planned(after(hour)), attempts } };
  expect(reverifyAllowedAt({ ...waiting, certificate: told }, after(hour))).toEqual(
    after(3 * hour),
  );
});
