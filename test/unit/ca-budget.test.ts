import { describe, expect, test } from '@jest/globals';
import { describeBudget, mayOrder, type CaUse } from '../../src/sites/domain/ca-budget.ts';

const now = new Date('2026-03-01T14:00:00Z');
const minute = 60_000;
const ago = (minutes: number) => new Date(now.getTime() - minutes * minute);
const ahead = (minutes: number) => ago(-minutes);

const unused = { used: 0, oldestAt: undefined };
const use = (known: Partial<CaUse> = {}): CaUse => ({
  automaticFailures: unused,
  manualFailures: unused,
  orders: unused,
  registeredDomain: unused,
  exactName: unused,
  ...known,
});

const automatic = { isManual: false, kind: 'new' } as const;
const manual = { isManual: true, kind: 'new' } as const;
const renewal = { isManual: false, kind: 'renewal' } as const;
const week = 7 * 24 * 60;

describe('a budget', () => {
  test.each([
    ['automaticFailures', 3, 60, automatic],
    ['manualFailures', 1, 60, manual],
    ['orders', 250, 180, automatic],
    ['registeredDomain', 48, week, automatic],
    ['exactName', 4, week, manual],
  ] as const)('of %s is used up with %d', (name, most, window, wanted) => {
    const oldestAt = ago(20);
    const left = use({ [name]: { used: most - 1, oldestAt } });
    expect(mayOrder(left, wanted, now)).toEqual({ allowed: true });
    const spent = use({ [name]: { used: most, oldestAt } });
    const nextAt = ahead(window - 20);
    expect(mayOrder(spent, wanted, now)).toEqual({ allowed: false, reason: name, nextAt });
  });

  test('for the owner is another one than for the schedule', () => {
    const failed = { used: 3, oldestAt: ago(20) };
    expect(mayOrder(use({ automaticFailures: failed }), manual, now).allowed).toBe(true);
    expect(mayOrder(use({ manualFailures: failed }), automatic, now).allowed).toBe(true);
  });

  test('that is used up longer than another is the one that is told', () => {
    const spent = use({
      automaticFailures: { used: 3, oldestAt: ago(10) },
      registeredDomain: { used: 60, oldestAt: ago(week - 5) },
      orders: { used: 250, oldestAt: ago(30) },
    });
    expect(mayOrder(spent, automatic, now)).toMatchObject({ reason: 'orders', nextAt: ahead(150) });
  });

  test('does not hold up a renewal that names the certificate it replaces, but failures do', () => {
    const full = { used: 1000, oldestAt: ago(1) };
    const spent = { orders: full, registeredDomain: full, exactName: full };
    expect(mayOrder(use(spent), renewal, now)).toEqual({ allowed: true });
    const own = { isManual: false, kind: 'own' } as const;
    expect(mayOrder(use({ ...spent, orders: unused }), own, now)).toEqual({ allowed: true });
    expect(mayOrder(use(spent), own, now)).toMatchObject({ reason: 'orders' });
    const failing = use({ automaticFailures: { used: 3, oldestAt: ago(1) } });
    expect(mayOrder(failing, renewal, now)).toMatchObject({ reason: 'automaticFailures' });
  });

  test('is free again within its window, whatever the clock did', () => {
    for (const oldestAt of [ahead(500_000), ago(500_000), undefined]) {
      const verdict = mayOrder(use({ orders: { used: 250, oldestAt } }), automatic, now);
      if (verdict.allowed) throw new Error('It is used up.');
      expect(verdict.nextAt.getTime()).toBeGreaterThan(now.getTime());
      expect(verdict.nextAt.getTime()).toBeLessThanOrEqual(ahead(180).getTime());
    }
  });
});

describe('people read', () => {
  const failed = (used: number): Partial<CaUse> => ({
    automaticFailures: { used, oldestAt: ago(48) },
  });

  test('how many failures of this hour are used and when the next attempt is', () => {
    const view = describeBudget(use(failed(2)), ahead(10), now);
    expect(view).toEqual({ used: 2, of: 5, windowMs: 60 * minute, nextAt: ahead(10) });
  });

  test('that an attempt waits for the budget', () => {
    const spent = use({ ...failed(3), manualFailures: { used: 1, oldestAt: ago(2) } });
    expect(describeBudget(spent, ahead(10), now)).toMatchObject({ used: 4, nextAt: ahead(12) });
    expect(describeBudget(spent, ahead(30), now)).toMatchObject({ nextAt: ahead(30) });
  });

  test('that no attempt is planned', () => {
    expect(describeBudget(use(failed(3)), undefined, now)).toMatchObject({ nextAt: undefined });
  });
});
