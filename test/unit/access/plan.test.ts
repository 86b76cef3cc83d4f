import { describe, expect, test } from '@jest/globals';
import { checkedLimits, limitsOf, planLimits, plans } from '../../../src/access/domain/quota.ts';

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

describe('limits of its own', () => {
  test('are optional, and for accounts on the plan enterprise only', () => {
    expect(checkedLimits('enterprise', own)).toEqual(own);
    for (const plan of plans) expect(checkedLimits(plan, undefined)).toBeUndefined();
  });

  test.each(['free', 'pro', 'business'] as const)('are refused on the plan %s', (plan) => {
    const checking = () => checkedLimits(plan, planLimits[plan]);
    expect(checking).toThrow(expect.objectContaining({ code: 'account_invalid' }));
    expect(checking).toThrow(plan);
  });

  test.each([0, -1, 1.5, NaN, Infinity, most + 1])('are refused with %d a minute or day', (off) => {
    for (const limits of [
      { ...own, perMinute: off },
      { ...own, perDay: off },
    ]) {
      const checking = () => checkedLimits('enterprise', limits);
      expect(checking).toThrow(expect.objectContaining({ code: 'account_invalid' }));
      expect(checking).toThrow('whole number from 1 to 1000000000');
    }
  });

  test.each([1, most])('are possible with %d', (limit) => {
    const limits = { perMinute: limit, perDay: limit };
    expect(checkedLimits('enterprise', limits)).toEqual(limits);
  });
});
