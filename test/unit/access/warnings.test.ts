import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  openAccount,
  type Account,
  removalSteps,
  warnOfRemoval,
  warnOfUse,
} from '../../../src/access/domain/account.ts';
import { highUseLevels } from '../../../src/access/domain/quota.ts';
import { later, now } from '../../support/accounts.ts';

const day = 24 * 60 * 60_000;
const draft = { id: 'acct_1', name: 'Zoo', email: 'owner@zoo.example', plan: 'free' } as const;
const opened = openAccount(draft, now).state;
const runs = { numRuns: 300 };

test('each level of the quota is reported at most once a day, and never the lower one after the higher one', () => {
  const uses = fc.array(
    fc.record({ day: fc.integer({ min: 1, max: 4 }), level: fc.constantFrom(...highUseLevels) }),
  );
  fc.assert(
    fc.property(uses, (all) => {
      let account: Account = opened;
      const told: string[] = [];
      for (const { day: number, level } of all) {
        const use = { level, used: 80, limit: 100, resetsAt: new Date(number * day) };
        const { state, events } = warnOfUse(account, use, now);
        account = state;
        told.push(...events.map(({ type }) => `${number} ${level} ${type}`));
      }
      expect(new Set(told).size).toBe(told.length);
      const order = (line: string) => line.replace('warning', 'a').replace('reached', 'b');
      expect(told).toEqual(told.toSorted((one, other) => (order(one) < order(other) ? -1 : 1)));
    }),
    runs,
  );
});

test('each step before the removal of an operation is reported at most once to an account', () => {
  const ending = { operation: 'getPet', removedAt: later(120 * day) };
  const days = fc.array(fc.integer({ min: 0, max: 130 }), { maxLength: 30 });
  fc.assert(
    fc.property(days, (all) => {
      let account: Account = opened;
      const steps: number[] = [];
      for (const at of all) {
        const { state, events } = warnOfRemoval(account, ending, later(at * day));
        account = state;
        if (events.length > 0) steps.push(account.warnings.removals[0]!.step);
        if (events.length > 0) expect(steps.at(-1)).toBeGreaterThanOrEqual(120 - at);
      }
      expect(steps).toEqual([...new Set(steps)].sort((a, b) => b - a));
      expect(steps.every((step) => (removalSteps as readonly number[]).includes(step))).toBe(true);
    }),
    runs,
  );
});

test('the reports about an operation are kept for a day after its removal', () => {
  const removed = { operation: 'getPet', removedAt: later(day) };
  const { state } = warnOfRemoval(opened, removed, now);
  const next = (elapsed: number) => {
    const ending = { operation: 'getToy', removedAt: later(elapsed + 30 * day) };
    const { warnings } = warnOfRemoval(state, ending, later(elapsed)).state;
    return warnings.removals.map(({ operation }) => operation);
  };
  expect(next(2 * day - 1)).toEqual(['getPet', 'getToy']);
  expect(next(2 * day)).toEqual(['getToy']);
});
