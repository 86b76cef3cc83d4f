import { describe, expect, test } from '@jest/globals';
import { changePlan, openAccount, type Account } from '../../../src/access/domain/account.ts';
import { noSiteLimits, planLimits, plans } from '../../../src/access/domain/quota.ts';

const now = new Date('2026-03-01T10:00:00Z');
const draft = { id: 'acct_1', name: 'Zoo', email: 'owner@shop.example', plan: 'free' } as const;
const opened: Account = {
  ...draft,
  ownLimits: undefined,
  siteLimits: noSiteLimits,
  createdAt: now,
  deletedAt: undefined,
  warnings: { quota: undefined, removals: [] },
  factorDemandedAt: undefined,
};

describe('opening an account', () => {
  test('trims its name, lower-cases its address and records its plan', () => {
    const wish = { ...draft, name: ' Zoo\n', email: ' Owner@Shop.Example ' };
    expect(openAccount(wish, now)).toEqual({
      state: opened,
      events: [{ type: 'account_opened', accountId: 'acct_1', occurredAt: now, plan: 'free' }],
    });
  });

  test.each(['', '   ', 'x'.repeat(101), 'Zoo \u202eevil'])(
    'is refused with the name "%s"',
    (name) => {
      const opening = () => openAccount({ ...draft, name }, now);
      expect(opening).toThrow(expect.objectContaining({ code: 'account_invalid' }));
      expect(opening).toThrow('1 to 100 characters');
    },
  );
});

describe.each(plans)('from the plan %s', (from) => {
  test.each(plans)('an account may change to the plan %s', (to) => {
    const account = { ...opened, plan: from };
    const common = { type: 'plan_changed', accountId: 'acct_1', occurredAt: now };
    const event = { ...common, from, to, ...planLimits[to] };
    expect(changePlan(account, { plan: to }, now)).toEqual({
      state: { ...account, plan: to },
      events: from === to ? [] : [event],
    });
  });
});

describe('an account with custom limits', () => {
  const own = { perMinute: 7, perDay: 77 };
  const plain = { ...opened, plan: 'enterprise' } as const;
  const account = { ...plain, ownLimits: own };
  const event = { type: 'plan_changed', accountId: 'acct_1', occurredAt: now };

  test('gets them without changing its plan, and the event has the limits', () => {
    const told = { ...event, from: 'enterprise', to: 'enterprise', ...own };
    expect(changePlan(plain, { plan: 'enterprise', requests: own }, now)).toEqual({
      state: account,
      events: [told],
    });
  });

  test('can get new limits, even only one number', () => {
    for (const other of [
      { ...own, perMinute: 8 },
      { ...own, perDay: 78 },
    ]) {
      const { state, events } = changePlan(account, { plan: 'enterprise', requests: other }, now);
      expect([state.ownLimits, events]).toMatchObject([other, [other]]);
    }
  });

  test('keeps them when the same ones are set again', () => {
    expect(changePlan(account, { plan: 'enterprise', requests: { ...own } }, now)).toEqual({
      state: account,
      events: [],
    });
    const usual = planLimits.enterprise;
    expect(changePlan(plain, { plan: 'enterprise', requests: usual }, now)).toEqual({
      state: plain,
      events: [],
    });
  });

  test('loses them when its plan changes without new ones', () => {
    expect(changePlan(account, { plan: 'pro' }, now)).toEqual({
      state: { ...plain, plan: 'pro' },
      events: [{ ...event, from: 'enterprise', to: 'pro', perMinute: 300, perDay: 10_000 }],
    });
    expect(changePlan(account, { plan: 'enterprise' }, now).state).toEqual(plain);
  });

  test("gets limits for sites one at a time, without losing the plan's other numbers", () => {
    const { state, events } = changePlan(
      plain,
      { plan: 'enterprise', sites: { projects: 60 } },
      now,
    );
    expect(state).toEqual({ ...plain, siteLimits: { ...noSiteLimits, projects: 60 } });
    expect(events).toEqual([
      { ...event, from: 'enterprise', to: 'enterprise', ...planLimits.enterprise, projects: 60 },
    ]);
    const again = changePlan(state, { plan: 'enterprise', sites: { projects: 60 } }, now);
    expect(again).toEqual({ state, events: [] });
    expect(changePlan(state, { plan: 'business' }, now).state.siteLimits).toEqual(noSiteLimits);
  });

  test('changes to a plan with the same limits, with an event', () => {
    const twin = { ...account, ownLimits: planLimits.pro };
    const { state, events } = changePlan(twin, { plan: 'pro' }, now);
    expect([state, events]).toMatchObject([{ plan: 'pro', ownLimits: undefined }, [{ to: 'pro' }]]);
  });

  test('cannot get invalid limits, or any limits on another plan', () => {
    for (const change of [
      () => changePlan(account, { plan: 'enterprise', requests: { ...own, perDay: 0 } }, now),
      () => changePlan(account, { plan: 'pro', requests: own }, now),
    ]) {
      expect(change).toThrow(expect.objectContaining({ code: 'account_invalid' }));
    }
  });
});
