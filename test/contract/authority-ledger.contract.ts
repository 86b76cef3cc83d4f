import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import {
  caBudgets,
  mayOrder,
  type BudgetName,
  type BudgetVerdict,
  type CaUse,
} from '../../src/sites/domain/ca-budget.ts';
import type { AuthorityLedger, LedgerEntry } from '../../src/sites/domain-ports.ts';
import { later, now } from '../support/accounts.ts';
import { race } from '../support/race.ts';
import { refusal, refuse } from '../support/refusal.ts';
import { scribble } from '../support/scribble.ts';
import type { Stores } from '../support/stores.ts';

const cats = { host: 'cats.pets.example', registrableDomain: 'pets.example' };
const dogs = { host: 'dogs.pets.example', registrableDomain: 'pets.example' };
const bikes = { host: 'pets.example.bikes.example', registrableDomain: 'bikes.example' };

const unused = { used: 0, oldestAt: undefined };
const noUse: CaUse = {
  ...{ automaticFailures: unused, manualFailures: unused, orders: unused },
  ...{ registeredDomain: unused, exactName: unused },
};

/** What counts towards each budget. */
const counted: Readonly<Record<BudgetName, Pick<LedgerEntry, 'kind' | 'isManual'>>> = {
  automaticFailures: { kind: 'failure', isManual: false },
  manualFailures: { kind: 'failure', isManual: true },
  orders: { kind: 'order', isManual: false },
  registeredDomain: { kind: 'issued', isManual: false },
  exactName: { kind: 'issued', isManual: false },
};
const budgets = Object.keys(counted) as BudgetName[];

export const authorityLedgerContract = (open: () => Promise<Stores>): void => {
  let stores: Stores;
  let ledger: AuthorityLedger;
  beforeAll(async () => {
    stores = await open();
    ledger = stores.ledger;
  });
  afterAll(() => stores.close());
  beforeEach(async () => {
    await ledger.sweep(later(1e13));
  });

  const entry = (draft: Partial<LedgerEntry> = {}): LedgerEntry => {
    return { kind: 'order', ...cats, isManual: false, occurredAt: later(0), ...draft };
  };
  const processes = () => [ledger, stores.secondProcess.ledger] as const;
  const allowed = (): BudgetVerdict => ({ allowed: true });
  const usedOf = async (name = cats) => {
    const use = await ledger.use(name, now);
    return Object.fromEntries(budgets.map((budget) => [budget, use[budget].used]));
  };

  test('nothing is used before anything happened', async () => {
    for (const reader of processes()) expect(await reader.use(cats, now)).toEqual(noUse);
  });

  test('each budget counts what it is meant for, of those it is meant for', async () => {
    for (const kind of ['order', 'failure', 'issued'] as const)
      for (const isManual of [false, true])
        for (const name of [cats, dogs, bikes])
          await ledger.record(entry({ kind, isManual, ...name }));
    const failures = { automaticFailures: 1, manualFailures: 1 };
    const ofCats = { ...failures, orders: 6, registeredDomain: 4, exactName: 2 };
    expect(await usedOf(cats)).toEqual(ofCats);
    expect(await usedOf(dogs)).toEqual(ofCats);
    expect(await usedOf(bikes)).toEqual({ ...ofCats, registeredDomain: 2 });
    const nobody = { host: 'nobody.example', registrableDomain: 'nobody.example' };
    expect(await stores.secondProcess.ledger.use(nobody, now)).toEqual({
      ...noUse,
      orders: { used: 6, oldestAt: later(0) },
    });
  });

  test.each(budgets)('what counts towards %s counts as long as its window is', async (budget) => {
    const { windowMs } = caBudgets[budget];
    const at = (milliseconds: number) =>
      ledger.record(entry({ ...counted[budget], occurredAt: later(milliseconds) }));
    await at(-windowMs);
    expect((await ledger.use(cats, now))[budget]).toEqual(unused);
    await at(-1);
    await at(1 - windowMs);
    await at(0);
    const oldestAt = later(1 - windowMs);
    expect((await ledger.use(cats, now))[budget]).toEqual({ used: 3, oldestAt });
    expect((await ledger.use(cats, later(1)))[budget]).toEqual({ used: 2, oldestAt: later(-1) });
  });

  test('what was entered before the clock was set back still counts', async () => {
    await ledger.record(entry({ occurredAt: later(1e9) }));
    expect((await ledger.use(cats, now)).orders).toEqual({ used: 1, oldestAt: later(1e9) });
  });

  test('a reserved order is entered when the decision allows it, and nothing otherwise', async () => {
    const told: CaUse[] = [];
    const denied: BudgetVerdict = { allowed: false, reason: 'orders', nextAt: later(5) };
    for (const verdict of [allowed(), denied, allowed()]) {
      const decide = (use: CaUse) => {
        told.push(use);
        return verdict;
      };
      expect(await ledger.reserve(entry(), decide)).toEqual(verdict);
    }
    await expect(ledger.reserve(entry(), refuse)).rejects.toBe(refusal);
    const once = { ...noUse, orders: { used: 1, oldestAt: later(0) } };
    expect(told).toEqual([noUse, once, once]);
    expect((await ledger.use(cats, now)).orders.used).toBe(2);
  });

  test('of twenty rivals for the last order exactly one gets it, whatever their hosts', async () => {
    const { stopAt } = caBudgets.orders;
    for (let n = 1; n < stopAt; n++) await ledger.record(entry({ ...bikes }));
    const wanted = { isManual: false, kind: 'new' } as const;
    const { won, lost } = await race(20, (n) =>
      (processes()[n % 2] ?? ledger).reserve(entry({ host: `${n}.pets.example` }), (use) =>
        mayOrder(use, wanted, now),
      ),
    );
    expect(lost).toEqual([]);
    expect(won.filter((verdict) => verdict.allowed)).toHaveLength(1);
    expect((await ledger.use(cats, now)).orders.used).toBe(stopAt);
  });

  test('a sweep forgets what was entered before a moment', async () => {
    for (const at of [1, 2, 3]) await ledger.record(entry({ occurredAt: later(at) }));
    expect(await ledger.sweep(later(3))).toBe(2);
    expect(await ledger.sweep(later(3))).toBe(0);
    expect((await ledger.use(cats, now)).orders).toEqual({ used: 1, oldestAt: later(3) });
  });

  test('callers cannot reach into storage through what they gave or got', async () => {
    const [recorded, reserved] = [entry(), entry()];
    await ledger.record(recorded);
    await ledger.reserve(reserved, (use) => {
      scribble(use);
      return allowed();
    });
    for (const held of [recorded, reserved, await ledger.use(cats, now)]) scribble(held);
    expect((await ledger.use(cats, now)).orders).toEqual({ used: 2, oldestAt: later(0) });
  });
};
