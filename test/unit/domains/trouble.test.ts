import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { recordCheck } from '../../../src/domains/domain/attachment/checks.ts';
import type { CustomDomain } from '../../../src/domains/domain/attachment/custom-domain.ts';
import { attentionAt, newsAt, withNews } from '../../../src/domains/domain/attachment/due-work.ts';
import {
  type IssuedCertificate,
  freshAttempts,
} from '../../../src/domains/domain/certificates/certificate-status.ts';
import {
  added,
  after,
  badReport,
  day,
  hour,
  live,
  minute,
  missing,
  report,
  verified,
} from '../../support/domains/known-domains.ts';

type Validity = Pick<IssuedCertificate, 'notBefore' | 'notAfter'>;

/**
 * A domain after the last check and the last attempt. Without a validity, it waits for its first
 * certificate.
 */
const domainWith = (its: {
  readonly astrayAt?: Date;
  readonly failed?: number;
  readonly validity?: Validity | undefined;
}): CustomDomain => {
  const attempts = its.failed ? { ...freshAttempts(after(0)), failed: its.failed } : undefined;
  const work = {
    step: 'planned',
    at: after(0),
    attempts,
    problem: its.failed ? missing : undefined,
  } as const;
  if ('validity' in its && !its.validity)
    return {
      ...(verified as typeof verified & { state: 'verified' }),
      certificate: { kind: 'wanted', work },
    };
  const known = live as typeof live & { state: 'live' };
  const dns = its.astrayAt
    ? { ...known.dns, report: badReport(its.astrayAt), lastCheckedAt: its.astrayAt }
    : known.dns;
  return { ...known, dns, certificate: { ...known.certificate, ...its.validity, work } };
};

/** The events of a domain at consecutive times. */
const watching = () => {
  let last: CustomDomain = live;
  return {
    look: (domain: CustomDomain, at: Date): readonly string[] => {
      const { episodes } = last;
      const { state, events } = withNews({ state: { ...domain, episodes }, events: [] }, at);
      last = state;
      return events.map(({ type }) => type);
    },
    nextLook: () => newsAt(last),
  };
};

describe('a live domain that points elsewhere', () => {
  const astraySince = (at: Date) => domainWith({ astrayAt: at });

  test('is reported once a check an hour later shows the same, and only once', () => {
    const { look } = watching();
    expect(look(astraySince(after(0)), after(0))).toEqual([]);
    expect(look(astraySince(after(hour - 1)), after(hour))).toEqual([]);
    expect(look(astraySince(after(hour)), after(hour + minute))).toEqual(['domain_unhealthy']);
    expect(look(astraySince(after(2 * hour)), after(2 * hour))).toEqual([]);
  });

  test('is not reported if it is right again within the hour', () => {
    const { look } = watching();
    expect(look(astraySince(after(0)), after(0))).toEqual([]);
    expect(look(domainWith({}), after(30 * minute))).toEqual([]);
    expect(look(astraySince(after(hour)), after(hour))).toEqual([]);
  });

  test('is reported as recovered, and a later problem is a new incident', () => {
    const { look } = watching();
    look(astraySince(after(0)), after(0));
    look(astraySince(after(hour)), after(hour));
    expect(look(domainWith({}), after(2 * hour))).toEqual(['domain_recovered']);
    expect(look(domainWith({}), after(3 * hour))).toEqual([]);
    expect(look(astraySince(after(day)), after(day))).toEqual([]);
    expect(look(astraySince(after(day + hour)), after(day + hour))).toEqual(['domain_unhealthy']);
  });

  /** A domain that has been live for long, with checks at their times. */
  const checksOf = (jitter: number, breaksAt: Date, isRightFrom?: Date) => {
    const told: { readonly type: string; readonly at: Date }[] = [];
    let domain: CustomDomain = live;
    for (let now = after(20 * day); now < after(22 * day); now = domain.dns.nextCheckAt!) {
      const isAstray = now >= breaksAt && !(isRightFrom && now >= isRightFrom);
      const reported = isAstray ? badReport(now) : report(now);
      const { state, events } = withNews(recordCheck(domain, reported, { now, jitter }), now);
      domain = state;
      told.push(...events.map(({ type }) => ({ type, at: now })));
    }
    return told;
  };

  test.each([-1, 0, 1])(
    'is reported within about two hours, but never before an hour (jitter %d)',
    (jitter) => {
      for (let minutes = 0; minutes < 66; minutes += 1) {
        const breaksAt = after(20 * day + 5 * hour + minutes * minute);
        const [told, ...others] = checksOf(jitter, breaksAt);
        expect(others).toEqual([]);
        expect(told?.type).toBe('domain_unhealthy');
        const waited = (told!.at.getTime() - breaksAt.getTime()) / minute;
        expect(waited).toBeGreaterThanOrEqual(60);
        expect(waited).toBeLessThanOrEqual(66 + 60);
      }
    },
  );

  test('is checked before the hour is over, so that a problem solved by then is not reported', () => {
    const breaksAt = after(20 * day + 5 * hour);
    expect(checksOf(0, breaksAt, after(20 * day + 5 * hour + 50 * minute))).toEqual([]);
  });
});

describe('a certificate that cannot be issued', () => {
  const failing = (failed: number) => domainWith({ failed, validity: undefined });
  const validUntil = (notAfter: Date, lifeMs = 90 * day) =>
    domainWith({ validity: { notBefore: new Date(notAfter.getTime() - lifeMs), notAfter } });

  test('is reported after three failed attempts, then every third day', () => {
    const { look, nextLook } = watching();
    expect(look(failing(2), after(0))).toEqual([]);
    expect(look(failing(3), after(minute))).toEqual(['certificate_failing']);
    expect(nextLook()).toEqual(after(minute + 3 * day));
    expect(look(failing(4), after(day))).toEqual([]);
    expect(look(failing(6), after(3 * day))).toEqual([]);
    expect(look(failing(7), after(minute + 3 * day))).toEqual(['certificate_failing']);
  });

  test.each([
    ['a fifth of a short lifetime', 6, 6 / 5],
    ['a week of a long lifetime', 90, 7],
  ])('is reported without any attempt once %s is left', (_, life, left) => {
    const { look, nextLook } = watching();
    const domain = validUntil(after(life * day), life * day);
    expect(look(domain, after(0))).toEqual([]);
    expect(nextLook()).toEqual(after((life - left) * day));
    expect(look(domain, after((life - left) * day - 1))).toEqual([]);
    expect(look(domain, after((life - left) * day))).toEqual(['certificate_failing']);
  });

  test('is reported as recovered once there is a newer one, not when attempts are counted from zero again', () => {
    const { look } = watching();
    expect(look(failing(3), after(0))).toEqual(['certificate_failing']);
    expect(look(failing(0), after(hour))).toEqual([]);
    expect(look(validUntil(after(90 * day)), after(2 * hour))).toEqual(['certificate_recovered']);
    expect(look(validUntil(after(90 * day)), after(3 * hour))).toEqual([]);
  });

  test('is reported as recovered after a late renewal only once the new one exists', () => {
    const { look } = watching();
    expect(look(domainWith({ failed: 3 }), after(0))).toEqual(['certificate_failing']);
    expect(look(domainWith({}), after(2 * hour))).toEqual([]);
    expect(look(validUntil(after(91 * day)), after(3 * hour))).toEqual(['certificate_recovered']);
  });

  test('is not reported as recovered when the new one also ends soon', () => {
    const { look } = watching();
    expect(look(failing(3), after(0))).toEqual(['certificate_failing']);
    expect(look(validUntil(after(day)), after(hour))).toEqual([]);
  });

  test('is reported as recovered after a renewal, however short its lifetime, and as failing again only when its next renewal is overdue', () => {
    const hours = fc.integer({ min: 12, max: 400 * 24 });
    fc.assert(
      fc.property(hours, hours, fc.double({ min: 0, max: 1, noNaN: true }), (old, young, share) => {
        const { look, nextLook } = watching();
        const of = (notBefore: Date, life: number, failed: number) => {
          const notAfter = new Date(notBefore.getTime() + life * hour);
          return domainWith({ failed, validity: { notBefore, notAfter } });
        };
        const at = after(1 + Math.floor(share * old * hour));
        expect(look(of(after(0), old, 3), at)).toEqual(['certificate_failing']);
        const renewed = of(at, young, 0);
        expect(look(renewed, new Date(at.getTime() + minute))).toEqual(['certificate_recovered']);
        expect(look(renewed, new Date(nextLook()!.getTime() - 1))).toEqual([]);
        expect(look(renewed, nextLook()!)).toEqual(['certificate_failing']);
      }),
    );
  });

  test('is reported with the problem, who acts, and when the current one ends', () => {
    const domain = domainWith({ failed: 3 });
    const { code: problem, actor, fix } = missing;
    expect(withNews({ state: domain, events: [] }, after(0)).events).toMatchObject([
      { problem, actor, fix, host: domain.host, expiresAt: after(90 * day).toISOString() },
    ]);
  });

  test('is not reported before the domain has visitors', () => {
    const attempts = { ...freshAttempts(after(0)), failed: 9 };
    const work = { step: 'planned', at: after(0), attempts, problem: missing } as const;
    const domainThat = (pointsHere: boolean): CustomDomain => ({
      ...(added as typeof added & { state: 'added' }),
      dns: { ...added.dns, report: report(after(0), { pointsHere }) },
      certificate: { kind: 'wanted', work },
    });
    const { look, nextLook } = watching();
    expect(look(domainThat(true), after(0))).toEqual(['certificate_failing']);
    expect(look(domainThat(false), after(3 * day))).toEqual([]);
    expect(nextLook()).toBeUndefined();
    expect(look(domainThat(true), after(4 * day))).toEqual(['certificate_failing']);
  });

  test('is not checked before the domain has visitors, even if an earlier one has expired', () => {
    const { certificate } = live as typeof live & { state: 'live' };
    const { look, nextLook } = watching();
    const domain = { ...(added as typeof added & { state: 'added' }), certificate };
    expect([look(domain, after(900 * day)), nextLook()]).toEqual([[], undefined]);
  });
});

test('of several domains that need their owner, the one that stops first or waits longest comes first', () => {
  const failing = (days: number) =>
    domainWith({ failed: 3, validity: { notBefore: after(0), notAfter: after(days * day) } });
  const astray = domainWith({ astrayAt: after(hour) });
  const found = withNews({ state: astray, events: [] }, after(hour)).state;
  const times = [found, failing(2), failing(9)].map((domain) => attentionAt(domain));
  expect(times).toEqual([after(hour), after(2 * day), after(9 * day)]);
  expect(attentionAt(added)).toEqual(added.addedAt);
  expect(attentionAt(live)).toEqual(new Date(0));
});
