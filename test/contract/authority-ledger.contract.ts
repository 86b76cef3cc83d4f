import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import {
  caBudgets,
  caWindows,
  mayOrder,
  type BudgetVerdict,
  type CaUse,
  type CaWindow,
} from '../../src/sites/domain/ca-budget.ts';
import type { AuthorityLedger, LedgerEntry } from '../../src/sites/domain-ports.ts';
import { later, now } from '../support/accounts.ts';
import { race } from '../support/race.ts';
import { refusal, refuse } from '../support/refusal.ts';
import { scribble } from '../support/scribble.ts';
import type { Stores } from '../support/stores.ts';

const accountId = 'acct_pets';
const cats = { accountId, host: 'cats.pets.example', registrableDomain: 'pets.example' };
const dogs = { accountId, host: 'dogs.pets.example', registrableDomain: 'pets.example' };
const bikes = {
  accountId: 'acct_bikes',
  host: 'pets.example.bikes.example',
  registrableDomain: 'bikes.example',
};

const noUse: CaUse = {
  ...{ automaticFailures: [], manualFailures: [], orders: [], accountOrders: [] },
  ...{ registeredDomain: [], exactName: [] },
};

/** What counts in each window. */
const counted: Readonly<Record<CaWindow, Pick<LedgerEntry, 'kind' | 'isManual'>>> = {
  automaticFailures: { kind: 'failure', isManual: false },
  manualFailures: { kind: 'failure', isManual: true },
  orders: { kind: 'renewal', isManual: false },
  accountOrders: { kind: 'order', isManual: false },
  registeredDomain: { kind: 'issued', isManual: false },
  exactName: { kind: 'issued', isManual: false },
};
const windows = Object.keys(counted) as CaWindow[];

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
    return Object.fromEntries(windows.map((window) => [window, use[window].length]));
  };

  test('nothing is used before anything happened', async () => {
    for (const reader of processes()) expect(await reader.use(cats, now)).toEqual(noUse);
  });

  test('each window counts what it is meant for, of those it is meant for', async () => {
    for (const kind of ['order', 'renewal', 'exempt', 'failure', 'issued'] as const)
      for (const isManual of [false, true])
        for (const name of [cats, dogs, bikes])
          await ledger.record(entry({ kind, isManual, ...name }));
    const shared = { automaticFailures: 1, manualFailures: 1, orders: 12 };
    const ofCats = { ...shared, accountOrders: 4, registeredDomain: 4, exactName: 2 };
    expect(await usedOf(cats)).toEqual(ofCats);
    expect(await usedOf(dogs)).toEqual(ofCats);
    expect(await usedOf(bikes)).toEqual({ ...ofCats, accountOrders: 2, registeredDomain: 2 });
    const nobody = { accountId: 'acct_nobody', host: 'nobody.example' };
    const none = { ...nobody, registrableDomain: 'nobody.example' };
    expect(await stores.secondProcess.ledger.use(none, now)).toEqual({
      ...noUse,
      orders: Array(12).fill(later(0)),
    });
  });

  test.each(windows)('what counts in %s counts as long as the window is', async (window) => {
    const { lengthMs } = caWindows[window];
    const at = (milliseconds: number) =>
      ledger.record(entry({ ...counted[window], occurredAt: later(milliseconds) }));
    await at(-lengthMs);
    expect((await ledger.use(cats, now))[window]).toEqual([]);
    for (const milliseconds of [-1, 1 - lengthMs, 0]) await at(milliseconds);
    const times = (await ledger.use(cats, now))[window];
    expect(times).toEqual([later(0), later(-1), later(1 - lengthMs)]);
    expect((await ledger.use(cats, later(1)))[window]).toEqual([later(0), later(-1)]);
  });

  test.each(windows)('of many in %s the newest that decide are told', async (window) => {
    const { most } = caWindows[window];
    for (let n = 0; n < most + 2; n++)
      await ledger.record(entry({ ...counted[window], occurredAt: later(-n) }));
    const newest = Array.from({ length: most }, (_, n) => later(-n));
    expect((await ledger.use(cats, now))[window]).toEqual(newest);
  });

  test('what was entered before the clock was set back still counts', async () => {
    await ledger.record(entry({ occurredAt: later(1e9) }));
    expect((await ledger.use(cats, now)).orders).toEqual([later(1e9)]);
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
    const once = { ...noUse, orders: [later(0)], accountOrders: [later(0)] };
    expect(told).toEqual([noUse, once, once]);
    expect((await ledger.use(cats, now)).orders).toHaveLength(2);
  });

  test.each([
    ['of the service exactly one gets it, whatever their accounts', 'newOrders', true],
    ['of an account exactly one gets it, whatever their hosts', 'accountHour', false],
  ] as const)('of twenty rivals for the last order %s', async (_, name, isCrowd) => {
    const { stopAt } = caBudgets[name];
    const before = isCrowd ? bikes : cats;
    for (let n = 1; n < stopAt; n++) await ledger.record(entry(before));
    const wanted = { isManual: false, kind: 'new' } as const;
    const { won, lost } = await race(20, (n) => {
      const rival = { host: `${n}.pets.example`, ...(isCrowd && { accountId: `acct_${n}` }) };
      const decide = (use: CaUse) => mayOrder(use, wanted, now);
      return (processes()[n % 2] ?? ledger).reserve(entry(rival), decide);
    });
    expect(lost).toEqual([]);
    expect(won.filter((verdict) => verdict.allowed)).toHaveLength(1);
    expect((await ledger.use(cats, now)).orders).toHaveLength(stopAt);
  });

  test('a sweep forgets what was entered before a moment', async () => {
    for (const at of [1, 2, 3]) await ledger.record(entry({ occurredAt: later(at) }));
    expect(await ledger.sweep(later(3))).toBe(2);
    expect(await ledger.sweep(later(3))).toBe(0);
    expect((await ledger.use(cats, now)).orders).toEqual([later(3)]);
  });

  test('callers cannot reach into storage through what they gave or got', async () => {
    const [recorded, reserved] = [entry(), entry()];
    await ledger.record(recorded);
    await ledger.reserve(reserved, (use) => {
      scribble(use);
      return allowed();
    });
    for (const held of [recorded, reserved, await ledger.use(cats, now)]) scribble(held);
    expect((await ledger.use(cats, now)).orders).toEqual([later(0), later(0)]);
  });
};
