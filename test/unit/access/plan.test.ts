import { describe, expect, test } from '@jest/globals';
import { checkAgreed, limitsOf, planLimits, plans } from '../../../src/access/domain/quota.ts';

const own = { perMinute: 7, perDay: 77 };
const most = 1_000_000_000;

test('every plan has its published limits', () => {
  const numbers = plans.map((plan) => {
    const { perMinute, perDay } = limitsOf(plan, undefined);
    return [plan, perMinute, perDay];
  });
  expect(numbers).toEqual([
    ['free', 60, 1000],
    ['pro', 300, 10_000],
    ['business', 1000, 100_000],
    ['enterprise', 5000, 1_000_000],
  ]);
});

test('an account with custom limits uses them', () => {
  expect(limitsOf('enterprise', own)).toEqual(own);
});

describe('custom limits', () => {
  const sites = { projects: 1, domains: 999_999, storageGib: undefined };

  test('are optional, and only for accounts on the plan enterprise', () => {
    checkAgreed('enterprise', { requests: own, sites });
    for (const plan of plans) checkAgreed(plan, {});
  });

  test.each(['free', 'pro', 'business'] as const)('are refused on the plan %s', (plan) => {
    for (const agreed of [{ requests: planLimits[plan] }, { sites }]) {
      const checking = () => {
        checkAgreed(plan, agreed);
      };
      expect(checking).toThrow(expect.objectContaining({ code: 'account_invalid' }));
      expect(checking).toThrow(plan);
    }
  });

  test.each([0, -1, 1.5, NaN, Infinity, most + 1])('are refused with %d', (off) => {
    const all = [
      { requests: { ...own, perMinute: off } },
      { requests: { ...own, perDay: off } },
      { sites: { projects: off } },
      { sites: { domains: off } },
      { sites: { storageGib: off } },
    ];
    for (const agreed of all) {
      const checking = () => {
        checkAgreed('enterprise', agreed);
      };
      expect(checking).toThrow(expect.objectContaining({ code: 'account_invalid' }));
      expect(checking).toThrow(/whole number from 1 to (1000000000|999999)\./);
    }
  });

  test.each([1, most])('are possible with %d requests', (limit) => {
    checkAgreed('enterprise', { requests: { perMinute: limit, perDay: limit } });
  });
});
