import { describe, expect, test } from '@jest/globals';
import {
  caBudgets,
  describeBudget,
  mayOrder,
  type BudgetName,
  type CaUse,
} from '../../../src/domains/domain/certificates/ca-budget.ts';

const now = new Date('2026-03-01T14:00:00Z');
const minute = 60_000;
const ago = (minutes: number) => new Date(now.getTime() - minutes * minute);
const ahead = (minutes: number) => ago(-minutes);

/** This many entries, the oldest this many minutes ago, and each a millisecond after the previous one. */
const times = (many: number, oldest: number) =>
  Array.from({ length: many }, (_, n) => new Date(ago(oldest).getTime() + many - 1 - n));
const use = (known: Partial<CaUse> = {}): CaUse => ({
  automaticFailures: [],
  manualFailures: [],
  orders: [],
  accountOrders: [],
  registeredDomain: [],
  exactName: [],
  ownHosts: [],
  ...known,
});
const spending = (name: BudgetName, many: number, oldest: number) =>
  use({ [caBudgets[name].counts]: times(many, oldest) });

const automatic = { isManual: false, kind: 'new' } as const;
const manual = { isManual: true, kind: 'new' } as const;
const renewal = { isManual: false, kind: 'renewal' } as const;
const own = { isManual: false, kind: 'own' } as const;
const ownRenewal = { isManual: false, kind: 'own_renewal' } as const;
const ownCounted = { isManual: false, kind: 'own_counted' } as const;
const exempt = { isManual: false, kind: 'exempt' } as const;
const day = 24 * 60;
const week = 7 * day;

describe('a budget', () => {
  test.each([
    ['automaticFailures', 3, 60, automatic],
    ['manualFailures', 1, 60, manual],
    ['orders', 250, 180, renewal],
    ['orders', 250, 180, ownRenewal],
    ['newOrders', 200, 180, automatic],
    ['newOrders', 200, 180, own],
    ['accountHour', 10, 60, automatic],
    ['accountHour', 10, 60, own],
    ['accountDay', 50, day, automatic],
    ['accountDay', 50, day, own],
    ['registeredDomain', 48, week, automatic],
    ['exactName', 4, week, manual],
  ] as const)('of %s is used up with %d in %d minutes', (reason, most, window, wanted) => {
    const oldest = window - 20;
    expect(mayOrder(spending(reason, most - 1, oldest), wanted, now)).toEqual({ allowed: true });
    const verdict = mayOrder(spending(reason, most, oldest), wanted, now);
    expect(verdict).toEqual({ allowed: false, reason, nextAt: ahead(20) });
  });

  test('has room once enough entries have left its window, however many there are', () => {
    const orders = [...times(60, 30), ...times(140, 100), ...times(50, 170)];
    const verdict = mayOrder(use({ orders }), automatic, now);
    expect(verdict).toMatchObject({ reason: 'newOrders', nextAt: ahead(80) });
  });

  test('is separate for the owner and for the schedule', () => {
    const failed = times(3, 20);
    expect(mayOrder(use({ automaticFailures: failed }), manual, now).allowed).toBe(true);
    expect(mayOrder(use({ manualFailures: failed }), automatic, now).allowed).toBe(true);
  });

  test('is reported if it is used up for the longest time', () => {
    const spent = use({
      automaticFailures: times(3, 10),
      registeredDomain: times(48, week - 5),
      orders: times(200, 30),
    });
    const nextAt = ahead(150);
    expect(mayOrder(spent, automatic, now)).toMatchObject({ reason: 'newOrders', nextAt });
  });

  test('does not delay a renewal that the authority exempts, except after failures', () => {
    const full = times(300, 1);
    const spent = { orders: full, accountOrders: full, registeredDomain: full, exactName: full };
    expect(mayOrder(use(spent), exempt, now)).toEqual({ allowed: true });
    const failing = use({ automaticFailures: times(3, 1) });
    expect(mayOrder(failing, exempt, now)).toMatchObject({ reason: 'automaticFailures' });
  });

  test('for names does not delay a host of the platform', () => {
    const full = { registeredDomain: times(300, 1), exactName: times(300, 1) };
    for (const wanted of [own, ownRenewal])
      expect(mayOrder(use(full), wanted, now)).toEqual({ allowed: true });
  });

  test.each([
    [1, 1],
    [2, 10],
    [3, 100],
    [5, 100],
  ])("delays a project's own host after %d failures for %d minutes", (failed, pause) => {
    const after = (minutes: number) =>
      use({ automaticFailures: Array.from({ length: failed }, (_, n) => ago(minutes + n * 100)) });
    for (const wanted of [own, ownRenewal, ownCounted]) {
      const held = mayOrder(after(pause - 0.5), wanted, now);
      expect(held).toEqual({ allowed: false, reason: 'ownHost', nextAt: ahead(0.5) });
      expect(mayOrder(after(pause), wanted, now)).toEqual({ allowed: true });
    }
    expect(mayOrder(after(0), automatic, now)).toEqual({ allowed: true });
  });

  test('is free again within its window, however the clock jumps', () => {
    for (const minutes of [-500_000, 0, 179, 180, 500_000]) {
      const verdict = mayOrder(spending('orders', 250, minutes), renewal, now);
      if (verdict.allowed) expect(minutes).toBeGreaterThanOrEqual(180);
      else {
        expect(verdict.nextAt.getTime()).toBeGreaterThan(now.getTime());
        expect(verdict.nextAt.getTime()).toBeLessThanOrEqual(ahead(180).getTime());
      }
    }
  });
});

describe('half of the orders', () => {
  const half = { orders: times(125, 100) };

  test('are not available to an account that ordered within the hour, until that hour is over', () => {
    for (const wanted of [automatic, own]) {
      const held = mayOrder(use({ ...half, accountOrders: [ago(50)] }), wanted, now);
      expect(held).toEqual({ allowed: false, reason: 'furtherOrders', nextAt: ahead(10) });
      const { orders } = half;
      const below = use({ orders: orders.slice(1), accountOrders: [ago(50)] });
      expect(mayOrder(below, wanted, now)).toEqual({ allowed: true });
    }
  });

  test("become available before the account's hour is over, if orders leave the window first", () => {
    const held = mayOrder(
      use({ orders: times(125, 170), accountOrders: [ago(5)] }),
      automatic,
      now,
    );
    expect(held).toMatchObject({ reason: 'furtherOrders', nextAt: ahead(10) });
  });

  test('are available to accounts without an order within the hour, and to renewals', () => {
    const idle = use({ ...half, accountOrders: [ago(60)] });
    for (const wanted of [automatic, own])
      expect(mayOrder(idle, wanted, now)).toEqual({ allowed: true });
    const busy = use({ ...half, accountOrders: times(50, 1) });
    for (const wanted of [renewal, ownRenewal])
      expect(mayOrder(busy, wanted, now)).toEqual({ allowed: true });
  });
});

describe('the page shows', () => {
  const failed = (used: number): Partial<CaUse> => ({ automaticFailures: times(used, 48) });

  test('how many failures of this hour are used and when the next attempt is', () => {
    const view = describeBudget(use(failed(2)), automatic, ahead(10), now);
    const windowMs = 60 * minute;
    expect(view).toEqual({ used: 2, of: 5, windowMs, nextAt: ahead(10), heldUpBy: undefined });
  });

  test('no failures of earlier hours', () => {
    const view = describeBudget(use({ automaticFailures: [ago(1), ago(61)] }), automatic, now, now);
    expect(view.used).toBe(1);
  });

  test('which limit an attempt waits for, and until when', () => {
    const spent = use({ ...failed(3), manualFailures: [ago(2)] });
    expect(describeBudget(spent, automatic, ahead(10), now)).toMatchObject({
      used: 4,
      nextAt: ahead(12),
      heldUpBy: { reason: 'automaticFailures', nextAt: ahead(12) },
    });
    const later = describeBudget(spent, automatic, ahead(30), now);
    expect(later).toMatchObject({ nextAt: ahead(30), heldUpBy: undefined });
    const share = use({ accountOrders: times(10, 20) });
    const heldUpBy = { reason: 'accountHour', nextAt: ahead(40) };
    expect(describeBudget(share, automatic, now, now)).toMatchObject({ heldUpBy });
    expect(describeBudget(share, renewal, now, now).heldUpBy).toBeUndefined();
  });

  test('that no attempt is planned', () => {
    const view = describeBudget(use(failed(3)), automatic, undefined, now);
    expect(view).toMatchObject({ nextAt: undefined, heldUpBy: undefined });
  });
});
