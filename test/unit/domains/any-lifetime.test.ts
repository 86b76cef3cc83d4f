import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { recordCheck } from '../../../src/domains/domain/attachment/checks.ts';
import type { CustomDomain } from '../../../src/domains/domain/attachment/custom-domain.ts';
import { attemptAt, dueAt, dueWork } from '../../../src/domains/domain/attachment/due-work.ts';
import {
  nextRenewal,
  pauseBetweenQuestions,
  preflightAt,
  urgentFrom,
} from '../../../src/domains/domain/certificates/renewal.ts';
import { longestRetryWait } from '../../../src/domains/domain/certificates/certificate-status.ts';
import {
  after,
  badReport,
  begin,
  bring,
  day,
  fail,
  hour,
  minute,
  moment,
  ordered,
  report,
  start,
} from '../../support/domains/known-domains.ts';

const lives = fc.integer({ min: minute, max: 398 * day });
const hosts = fc.domain();

const runs = { numRuns: 50 };

const forAny = (check: (life: number, host: string) => void) => {
  fc.assert(fc.property(lives, hosts, check), runs);
};

const validFor = (life: number, host = 'shop.example.com') => ({
  host,
  notBefore: start,
  notAfter: after(life),
});

/** A live domain, with a certificate that was issued at the start. */
const liveFor = (life: number): CustomDomain => bring(ordered, start, validFor(life)).state;

const leftAt = (at: Date, life: number) => (life - (at.getTime() - start.getTime())) / life;

describe('for any lifetime of a certificate from a minute to 398 days', () => {
  test('the renewal begins with at least a third of it left, or half if it is shorter than 10 days', () => {
    forAny((life, host) => {
      const left = leftAt(nextRenewal(validFor(life, host), start), life);
      const share = life < 10 * day ? 1 / 2 : 1 / 3;
      expect(left).toBeGreaterThanOrEqual(share - 1e-3);
      expect(left).toBeLessThanOrEqual(1.1 * share + 1e-3);
    });
  });

  test('a certificate that arrives late is renewed, and its window requested, before it ends', () => {
    const shares = fc.double({ min: 0, max: 1, noNaN: true });
    const check = (life: number, share: number) => {
      const now = after(Math.floor(share * (life - 10)));
      const end = after(life).getTime();
      expect(nextRenewal(validFor(life), now).getTime()).toBeLessThan(end);
      const pause = pauseBetweenQuestions(validFor(life), now);
      expect(now.getTime() + pause).toBeLessThan(end);
      expect(pause).toBeGreaterThanOrEqual(Math.min(minute, (end - now.getTime()) / 4));
    };
    fc.assert(fc.property(lives, shares, check), runs);
  });

  test('a certificate that has ended on arrival is not renewed at once, because the clock must be ahead', () => {
    forAny((life) => {
      const now = after(life + day);
      const wait = nextRenewal(validFor(life), now).getTime() - now.getTime();
      expect(wait).toBe(Math.floor(Math.max(minute, life / 20)));
    });
  });

  test('renewals of certificates that were issued together are spread', () => {
    const times = Array.from({ length: 1000 }, (_, n) =>
      nextRenewal(validFor(90 * day, `shop-${n}.example.com`), start).getTime(),
    );
    const perHour = Map.groupBy(times, (time) => Math.floor(time / hour));
    expect(Math.max(...times) - Math.min(...times)).toBeGreaterThan(2.8 * day);
    expect(Math.max(...[...perHour.values()].map(({ length }) => length))).toBeLessThan(40);
  });

  test('the DNS is checked a tenth of it before the renewal, at most 7 days before', () => {
    forAny((life) => {
      const live = liveFor(life);
      const renewal = attemptAt(live)!;
      const at = preflightAt(validFor(life), renewal);
      const before = renewal.getTime() - at.getTime();
      expect(Math.abs(before - Math.min(life / 10, 7 * day))).toBeLessThanOrEqual(1);
      const checkedBefore = recordCheck(
        live,
        report(new Date(at.getTime() - 1)),
        moment(new Date(at.getTime() - 1)),
      );
      expect(dueWork(checkedBefore.state, at)).toBe('check');
      expect(dueAt(checkedBefore.state)!.getTime()).toBeLessThanOrEqual(at.getTime());
      const checkedThen = recordCheck(live, report(at), moment(at));
      expect(dueWork(checkedThen.state, at)).toBeUndefined();
    });
  });

  test('failed renewals are retried after at most a twentieth of the remaining time, but never in under a minute', () => {
    forAny((life) => {
      const now = after(Math.floor(life * 0.7));
      const left = life - (now.getTime() - start.getTime());
      for (const state of failedRenewals(life, now)) {
        const wait = attemptAt(state)!.getTime() - now.getTime();
        expect(wait).toBeGreaterThanOrEqual(minute);
        expect(wait).toBeLessThanOrEqual(Math.max(minute, left / 20));
      }
    });
  });

  test('ten attempts fit before the end, if there is time for ten that are a minute apart', () => {
    fc.assert(
      fc.property(fc.integer({ min: 25 * minute, max: 398 * day }), (life) => {
        expect(triesBeforeTheEnd(life)).toBeGreaterThanOrEqual(10);
      }),
      runs,
    );
  });

  test('while a renewal waits for the DNS, the DNS is checked as often as a failed renewal is retried, and at least hourly', () => {
    forAny((life) => {
      const now = after(Math.floor(life * 0.7));
      const held = recordCheck(renewing(life, now), badReport(now), moment(now)).state;
      const wait = held.dns.nextCheckAt!.getTime() - now.getTime();
      expect(wait).toBeLessThanOrEqual(Math.min(hour, longestRetryWait(validFor(life), now)) + 1);
    });
  });

  test('the last twentieth is urgent', () => {
    forAny((life) => {
      expect(leftAt(urgentFrom(validFor(life)), life)).toBeCloseTo(1 / 20, 2);
    });
  });
});

test('attempts become rarer again after the end, but are never more than a day apart', () => {
  const waits = [0, hour, day, 10 * day, 40 * day].map((past) => {
    const now = after(6 * day + past);
    const state = renewing(6 * day, now);
    let failed = state;
    for (let n = 0; n < 5; n++) failed = tryInVain(failed, now);
    return attemptAt(failed)!.getTime() - now.getTime();
  });
  expect(waits).toEqual([minute, 3 * minute, 72 * minute, 12 * hour, day]);
});

const renewing = (life: number, now: Date): CustomDomain => {
  const live = liveFor(life);
  return live.state === 'live'
    ? {
        ...live,
        certificate: {
          ...live.certificate,
          work: { step: 'planned', at: now, attempts: undefined, problem: undefined },
        },
      }
    : live;
};

const tryInVain = (domain: CustomDomain, now: Date): CustomDomain =>
  fail(begin(domain, now).state, 'challenge', now).state;

const failedRenewals = (life: number, now: Date): readonly CustomDomain[] => {
  const states = [renewing(life, now)];
  for (let n = 0; n < 6; n++) states.push(tryInVain(states.at(-1)!, now));
  return states.slice(1);
};

const triesBeforeTheEnd = (life: number): number => {
  let tries = 0;
  for (let state = liveFor(life); attemptAt(state)! < after(life) && tries < 50; tries++)
    state = tryInVain(state, attemptAt(state)!);
  return tries;
};
