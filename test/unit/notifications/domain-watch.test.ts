import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  isForgotten,
  lookAtDomain,
  type DomainMemory,
} from '../../../src/notifications/domain/domain-watch.ts';
import type { WatchedDomain } from '../../../src/notifications/domain/watched-domain.ts';
import { later, now } from '../../support/accounts.ts';
import { astray, day, hour, minute, watchedDomain } from '../../support/watched-domain.ts';

/** Looks at a domain again and again. */
const watching = () => {
  let memory: DomainMemory | undefined;
  let lookAt: Date | undefined;
  return {
    look: (domain: WatchedDomain, at: Date): readonly string[] => {
      const look = lookAtDomain(memory, domain, at);
      ({ memory, lookAt } = look);
      return look.events.map(({ type }) => type);
    },
    nextLook: () => lookAt,
    memory: () => memory,
  };
};

describe('a live domain that leads elsewhere', () => {
  const astraySince = (at: Date) => watchedDomain({ dns: { checkedAt: at, astray } });

  test('is told once a check an hour later shows the same, and only once', () => {
    const { look, nextLook } = watching();
    expect(look(astraySince(now), now)).toEqual([]);
    expect(nextLook()).toEqual(later(hour));
    expect(look(astraySince(later(hour - 1)), later(hour))).toEqual([]);
    expect(nextLook()).toEqual(later(hour + 5 * minute));
    expect(look(astraySince(later(hour)), later(hour + minute))).toEqual(['domain_unhealthy']);
    expect(look(astraySince(later(2 * hour)), later(2 * hour))).toEqual([]);
  });

  test('is not told if it is right again within the hour', () => {
    const { look } = watching();
    expect(look(astraySince(now), now)).toEqual([]);
    expect(look(watchedDomain({}), later(30 * minute))).toEqual([]);
    expect(look(astraySince(later(hour)), later(hour))).toEqual([]);
  });

  test('is told to be right again, and what goes wrong later is another episode', () => {
    const { look } = watching();
    look(astraySince(now), now);
    look(astraySince(later(hour)), later(hour));
    expect(look(watchedDomain({}), later(2 * hour))).toEqual(['domain_recovered']);
    expect(look(watchedDomain({}), later(3 * hour))).toEqual([]);
    expect(look(astraySince(later(day)), later(day))).toEqual([]);
    expect(look(astraySince(later(day + hour)), later(day + hour))).toEqual(['domain_unhealthy']);
  });
});

describe('a certificate that does not come', () => {
  const failing = (failed: number) =>
    watchedDomain({ certificate: { failed, validity: undefined, trouble: astray } });
  const validUntil = (notAfter: Date, lifeMs = 90 * day) => {
    const notBefore = new Date(notAfter.getTime() - lifeMs);
    return watchedDomain({ certificate: { validity: { notBefore, notAfter } } });
  };

  test('is told after three failed attempts, then every third day', () => {
    const { look, nextLook } = watching();
    expect(look(failing(2), now)).toEqual([]);
    expect(look(failing(3), later(minute))).toEqual(['certificate_failing']);
    expect(nextLook()).toEqual(later(minute + 3 * day));
    expect(look(failing(4), later(day))).toEqual([]);
    expect(look(failing(6), later(3 * day))).toEqual([]);
    expect(look(failing(7), later(minute + 3 * day))).toEqual(['certificate_failing']);
  });

  test.each([
    ['a fifth of a short life', 6, 6 / 5],
    ['a week of a long one', 90, 7],
  ])('is told without any attempt once %s is left', (_, life, left) => {
    const { look, nextLook } = watching();
    const domain = validUntil(later(life * day), life * day);
    expect(look(domain, now)).toEqual([]);
    expect(nextLook()).toEqual(later((life - left) * day));
    expect(look(domain, later((life - left) * day - 1))).toEqual([]);
    expect(look(domain, later((life - left) * day))).toEqual(['certificate_failing']);
  });

  test('is told to have come once there is a newer one, not when the attempts are counted anew', () => {
    const { look } = watching();
    expect(look(failing(3), now)).toEqual(['certificate_failing']);
    expect(look(failing(0), later(hour))).toEqual([]);
    expect(look(validUntil(later(90 * day)), later(2 * hour))).toEqual(['certificate_recovered']);
    expect(look(validUntil(later(90 * day)), later(3 * hour))).toEqual([]);
  });

  test('that was renewed late is told to have come only once it is there', () => {
    const { look } = watching();
    const old = later(80 * day);
    const renewing = (failed: number) => watchedDomain({ certificate: { failed } });
    expect(look(renewing(3), now)).toEqual(['certificate_failing']);
    expect(look(renewing(0), later(hour))).toEqual([]);
    expect(look(validUntil(old), later(2 * hour))).toEqual([]);
    expect(look(validUntil(later(90 * day)), later(3 * hour))).toEqual(['certificate_recovered']);
  });

  test('that was renewed, for however short a life, is told to have come, and not to fail again before that is due', () => {
    const hours = fc.integer({ min: 12, max: 400 * 24 });
    fc.assert(
      fc.property(hours, hours, fc.double({ min: 0, max: 1, noNaN: true }), (old, young, share) => {
        const { look, nextLook } = watching();
        const of = (notBefore: Date, life: number, failed: number) => {
          const notAfter = new Date(notBefore.getTime() + life * hour);
          return watchedDomain({ certificate: { failed, validity: { notBefore, notAfter } } });
        };
        const at = later(1 + Math.floor(share * old * hour));
        expect(look(of(now, old, 3), at)).toEqual(['certificate_failing']);
        const renewed = of(at, young, 0);
        expect(look(renewed, new Date(at.getTime() + minute))).toEqual(['certificate_recovered']);
        expect(look(renewed, new Date(nextLook()!.getTime() - 1))).toEqual([]);
        expect(look(renewed, nextLook()!)).toEqual(['certificate_failing']);
      }),
    );
  });

  test('names the problem, who acts, and when the current one ends', () => {
    const domain = watchedDomain({ certificate: { failed: 3, trouble: astray } });
    expect(lookAtDomain(undefined, domain, now).events).toMatchObject([
      { ...astray, host: 'shop.example', expiresAt: later(80 * day).toISOString() },
    ]);
  });
});

describe('a removed domain', () => {
  test('is told nothing of, and what was told of it before does not end with a recovery', () => {
    const { look } = watching();
    look(watchedDomain({ certificate: { failed: 3, validity: undefined } }), now);
    const removed = watchedDomain({ isAttached: false, dns: { astray } });
    expect(look(removed, later(hour))).toEqual([]);
    expect(look(removed, later(30 * day))).toEqual([]);
  });

  test('is remembered for an hour, then forgotten', () => {
    const { look, memory, nextLook } = watching();
    look(watchedDomain({ isAttached: false }), now);
    look(watchedDomain({ isAttached: false }), later(minute));
    expect(nextLook()).toEqual(later(hour));
    expect(isForgotten(memory()!, later(hour - 1))).toBe(false);
    expect(isForgotten(memory()!, later(hour))).toBe(true);
  });
});
