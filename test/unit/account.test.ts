import { describe, expect, test } from '@jest/globals';
import { changePlan, openAccount } from '../../src/access/domain/account.ts';
import { plans } from '../../src/access/domain/plan.ts';

const now = new Date('2026-03-01T10:00:00Z');
const draft = { id: 'acct_1', name: 'Zoo', email: 'owner@shop.example', plan: 'free' } as const;

describe('opening an account', () => {
  test('trims its name, writes its address in small letters and tells of its plan', () => {
    const wish = { ...draft, name: ' Zoo\n', email: ' Owner@Shop.Example ' };
    expect(openAccount(wish, now)).toEqual({
      state: { ...draft, createdAt: now },
      events: [{ type: 'account_opened', accountId: 'acct_1', occurredAt: now, plan: 'free' }],
    });
  });

  test.each(['', '   ', 'x'.repeat(101)])('is refused with the name "%s"', (name) => {
    const opening = () => openAccount({ ...draft, name }, now);
    expect(opening).toThrow(expect.objectContaining({ code: 'account_invalid' }));
    expect(opening).toThrow('1 to 100 characters');
  });

  test.each([
    ...[
      '',
      'owner',
      '@shop.example',
      'owner@',
      'owner@shop',
      'a b@shop.example',
      'a@b@shop.example',
    ],
    `${'x'.repeat(242)}@shop.example`,
  ])('is refused with the address "%s"', (email) => {
    const opening = () => openAccount({ ...draft, email }, now);
    expect(opening).toThrow(expect.objectContaining({ code: 'account_invalid' }));
    expect(opening).toThrow(`"${email}" is no e-mail address`);
  });

  test('is possible with the longest name and address', () => {
    const longest = { name: 'x'.repeat(100), email: `${'x'.repeat(241)}@shop.example` };
    expect(longest.email).toHaveLength(254);
    expect(openAccount({ ...draft, ...longest }, now).state).toMatchObject(longest);
  });
});

describe.each(plans)('from the plan %s', (from) => {
  test.each(plans)('an account may change to the plan %s', (to) => {
    const account = { ...draft, plan: from, createdAt: now };
    const event = { type: 'plan_changed', accountId: 'acct_1', occurredAt: now, from, to };
    expect(changePlan(account, to, now)).toEqual({
      state: { ...account, plan: to },
      events: from === to ? [] : [event],
    });
  });
});
