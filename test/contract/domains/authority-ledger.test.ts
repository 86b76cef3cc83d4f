import { beforeEach, expect } from '@jest/globals';
import {
  caBudgets,
  caWindows,
  mayOrder,
  orderAsked,
  orderExempted,
  orderNotMade,
  orderUnheardOf,
  type BudgetVerdict,
  type CaUse,
  type CaWindow,
  type AskedOrder,
  type LedgerChange,
  type LedgerEntry,
} from '../../../src/domains/domain/certificates/ca-budget.ts';
import { unknownOwnName } from '../../../src/domains/domain/own/own-name.ts';
import {
  unchanged,
  type CustomDomain,
} from '../../../src/domains/domain/attachment/custom-domain.ts';
import {
  domainAfter,
  orderSubject,
  workOf,
} from '../../../src/domains/domain/attachment/domain-certificate.ts';
import { claimOrder } from '../../../src/domains/domain/certificates/certificate-work.ts';
import { later, now } from '../../support/accounts.ts';
import { newDomain, servedProject, verify } from '../../support/domains/custom-domains.ts';
import { race } from '../../support/race.ts';
import { refusal, refuse } from '../../support/refusal.ts';
import { describeStores, test, testOnBoth } from '../../support/store-contracts.ts';
import type { Stores } from '../../support/stores.ts';

const accountId = 'acct_pets';
const authority = 'authority.test';
const cats = { authority, accountId, host: 'cats.pets.example', registrableDomain: 'pets.example' };
const dogs = { authority, accountId, host: 'dogs.pets.example', registrableDomain: 'pets.example' };
const bikes = {
  authority,
  accountId: 'acct_bikes',
  host: 'pets.example.bikes.example',
  registrableDomain: 'bikes.example',
};

const asked: AskedOrder = {
  ...cats,
  kind: 'own',
  orderKey: 'order 1',
  isManual: false,
  occurredAt: later(0),
};

const noUse: CaUse = {
  automaticFailures: [],
  manualFailures: [],
  orders: [],
  accountOrders: [],
  registeredDomain: [],
  exactName: [],
  ownHosts: [],
};

/** The entries that count in each window. */
const counted: Readonly<Record<CaWindow, Pick<LedgerEntry, 'kind' | 'isManual'>>> = {
  automaticFailures: { kind: 'failure', isManual: false },
  manualFailures: { kind: 'failure', isManual: true },
  orders: { kind: 'renewal', isManual: false },
  accountOrders: { kind: 'order', isManual: false },
  registeredDomain: { kind: 'issued', isManual: false },
  exactName: { kind: 'issued', isManual: false },
  ownHosts: { kind: 'own', isManual: false },
};
const windows = Object.keys(counted) as CaWindow[];

describeStores('the ledger of authorities', (stores) => {
  const { ledger } = stores;
  beforeEach(async () => {
    await stores.retention.sweep('authority_ledger', later(1e13));
  });

  const entry = (draft: Partial<LedgerEntry> = {}): LedgerEntry => {
    return { ...asked, kind: 'order', ...draft };
  };
  const enter = (one: LedgerEntry) => stores.edgeWriter.writeLedger({ entered: [one] });
  const processes = () => [ledger, stores.secondProcess.ledger] as const;
  const allowed = (): BudgetVerdict => ({ allowed: true });
  /** Counts and enters in one step, like an order for one of the platform's names. */
  const reserve = async (
    order: AskedOrder,
    decide: (use: CaUse) => BudgetVerdict,
    through: Pick<Stores, 'ownNames'> = stores,
  ): Promise<BudgetVerdict> => {
    const { verdict } = await through.ownNames.changeCounted(order, now, (known, use) => {
      const verdict = decide(use);
      const name = known ?? unknownOwnName(order.host);
      return { name, verdict, ...(verdict.allowed && { ledger: orderAsked(order) }) };
    });
    return verdict;
  };
  const usedOf = async (name = cats) => {
    const use = await ledger.use(name, now);
    return Object.fromEntries(windows.map((window) => [window, use[window].length]));
  };

  test('the orders of all accounts are counted for each authority, without any host name', async () => {
    const { lengthMs } = caWindows.orders;
    const at = (occurredAt: Date, draft: Partial<LedgerEntry> = {}) =>
      enter(entry({ orderKey: `order ${occurredAt.getTime()}`, occurredAt, ...draft }));
    await at(later(-lengthMs));
    await at(later(-2), { ...bikes, kind: 'renewal' });
    await at(later(-1));
    await at(later(0), { kind: 'failure' });
    expect(await ledger.orders(authority, now)).toEqual([later(-1), later(-2)]);
  });

  test('each authority has its own counts', async () => {
    for (const [n, name] of ['authority.test', 'other.test', 'other.test'].entries())
      for (const kind of ['order', 'issued', 'failure'] as const)
        await enter(entry({ kind, authority: name, orderKey: `order ${n}` }));
    const counts = async (name: string) => {
      const { automaticFailures, orders, exactName } = await ledger.use(
        { ...cats, authority: name },
        now,
      );
      const all = await ledger.orders(name, now);
      return [automaticFailures, orders, exactName, all].map(({ length }) => length);
    };
    expect(await counts('authority.test')).toEqual([1, 1, 1, 1]);
    expect(await counts('other.test')).toEqual([2, 2, 2, 2]);
    expect(await counts('third.test')).toEqual([0, 0, 0, 0]);
  });

  test("new certificates of projects' own hosts count together, whichever authority issued them", async () => {
    for (const [n, name] of ['authority.test', 'other.test'].entries())
      await enter(entry({ ...bikes, kind: 'own', authority: name, orderKey: `order ${n}` }));
    expect((await ledger.use(cats, now)).ownHosts).toHaveLength(2);
  });

  test('an empty ledger shows no use', async () => {
    for (const reader of processes()) expect(await reader.use(cats, now)).toEqual(noUse);
  });

  testOnBoth('each window counts only its own kind of event for its own subject', async () => {
    for (const kind of ['order', 'renewal', 'failure', 'issued', 'own'] as const)
      for (const isManual of [false, true])
        for (const name of [cats, dogs, bikes]) await enter(entry({ kind, isManual, ...name }));
    const shared = { automaticFailures: 1, manualFailures: 1, orders: 12, ownHosts: 6 };
    const ofCats = { ...shared, accountOrders: 4, registeredDomain: 8, exactName: 2 };
    expect(await usedOf(cats)).toEqual(ofCats);
    expect(await usedOf(dogs)).toEqual(ofCats);
    expect(await usedOf(bikes)).toEqual({ ...ofCats, accountOrders: 2, registeredDomain: 4 });
    const nobody = { authority, accountId: 'acct_nobody', host: 'nobody.example' };
    const none = { ...nobody, registrableDomain: 'nobody.example' };
    expect(await stores.secondProcess.ledger.use(none, now)).toEqual({
      ...noUse,
      orders: Array(12).fill(later(0)),
      ownHosts: Array(6).fill(later(0)),
    });
  });

  test.each(windows)('entries in %s count for exactly the length of the window', async (window) => {
    const { lengthMs } = caWindows[window];
    const at = (milliseconds: number) =>
      enter(entry({ ...counted[window], occurredAt: later(milliseconds) }));
    await at(-lengthMs);
    expect((await ledger.use(cats, now))[window]).toEqual([]);
    for (const milliseconds of [-1, 1 - lengthMs, 0]) await at(milliseconds);
    const times = (await ledger.use(cats, now))[window];
    expect(times).toEqual([later(0), later(-1), later(1 - lengthMs)]);
    expect((await ledger.use(cats, later(1)))[window]).toEqual([later(0), later(-1)]);
  });

  test.each(windows)(
    'of many entries in %s, only the newest ones, which decide, are returned',
    async (window) => {
      const { most } = caWindows[window];
      for (let n = 0; n < most + 2; n++)
        await enter(entry({ ...counted[window], occurredAt: later(-n) }));
      const newest = Array.from({ length: most }, (_, n) => later(-n));
      expect((await ledger.use(cats, now))[window]).toEqual(newest);
    },
  );

  test('entries made before the clock was set back still count', async () => {
    await enter(entry({ occurredAt: later(1e9) }));
    expect((await ledger.use(cats, now)).orders).toEqual([later(1e9)]);
  });

  testOnBoth('an order is reserved only when the decision allows it', async () => {
    const told: CaUse[] = [];
    const denied: BudgetVerdict = { allowed: false, reason: 'orders', nextAt: later(5) };
    for (const verdict of [allowed(), denied, allowed()]) {
      const decide = (use: CaUse) => {
        told.push(use);
        return verdict;
      };
      expect(await reserve(asked, decide)).toEqual(verdict);
    }
    await expect(reserve(asked, refuse)).rejects.toBe(refusal);
    const at = [later(0)];
    const counts = { orders: at, accountOrders: at, registeredDomain: at, ownHosts: at };
    const once = { ...noUse, ...counts };
    expect(told).toEqual([noUse, once, once]);
    expect((await ledger.use(cats, now)).orders).toHaveLength(2);
  });

  test.each([
    ['of the service, exactly one gets it, whatever their accounts', 'newOrders', true],
    ['of an account, exactly one gets it, whatever their hosts', 'accountHour', false],
  ] as const)('when twenty compete for the last order %s', async (_, name, isCrowd) => {
    const { stopAt } = caBudgets[name];
    const before = isCrowd ? bikes : cats;
    for (let n = 1; n < stopAt; n++) await enter(entry(before));
    const wanted = { isManual: false, kind: 'new' } as const;
    const { won, lost } = await race(20, (n) => {
      const rival = { host: `${n}.pets.example`, ...(isCrowd && { accountId: `acct_${n}` }) };
      const decide = (use: CaUse) => mayOrder(use, wanted, now);
      return reserve({ ...asked, ...rival }, decide, n % 2 ? stores.secondProcess : stores);
    });
    expect(lost).toEqual([]);
    expect(won.filter((verdict) => verdict.allowed)).toHaveLength(1);
    expect((await ledger.use(cats, now)).orders).toHaveLength(stopAt);
  });

  test('an order counts from before its request, unless it was certainly not placed', async () => {
    const orderKey = `platform:${'x'.repeat(253)}:${'y'.repeat(40)}`;
    const reserveFor = (kind: AskedOrder['kind'], draft: Partial<AskedOrder> = {}) =>
      reserve({ ...asked, kind, ...draft }, allowed);
    const settle = (change: LedgerChange) => stores.secondProcess.edgeWriter.writeLedger(change);
    for (const key of [orderKey, 'another']) await reserveFor('new', { orderKey: key });
    const two = { ...(await usedOf()), orders: 2, accountOrders: 2 };
    expect(await usedOf()).toEqual({ ...two, registeredDomain: 2, exactName: 2 });
    await settle(orderUnheardOf('another'));
    expect(await usedOf()).toEqual({ ...two, registeredDomain: 1, exactName: 1 });
    await settle(orderNotMade(orderKey));
    const one = { ...two, orders: 1, accountOrders: 1, registeredDomain: 0, exactName: 0 };
    expect(await usedOf()).toEqual(one);
    await reserveFor('exempt', { orderKey });
    expect(await usedOf()).toEqual({ ...one, orders: 2, registeredDomain: 1, exactName: 1 });
    await settle(orderExempted(orderKey));
    expect(await usedOf()).toEqual({ ...one, registeredDomain: 1, exactName: 1 });
  });

  testOnBoth('a new entry replaces the one that is freed in the same step', async () => {
    await enter(entry({ kind: 'issued', occurredAt: later(-5) }));
    const { orderKey } = asked;
    const freed = [{ kind: 'issued', orderKey }] as const;
    await stores.edgeWriter.writeLedger({
      freed,
      entered: [entry({ kind: 'issued', occurredAt: later(-1) })],
    });
    expect((await ledger.use(cats, now)).exactName).toEqual([later(-1)]);
  });

  test('the step that records the outcome of an order also updates its ledger entry', async () => {
    const orders = stores.certificateOrders;
    await orders.begin({
      authority,
      subject: 'domain:dom_x:1',
      host: cats.host,
      privateKey: 'key',
    });
    await reserve({ ...asked, kind: 'exempt' }, allowed);
    await orders.placed('domain:dom_x:1', 'https://ca.test/1', orderExempted(asked.orderKey));
    expect(await usedOf()).toMatchObject({ orders: 0, exactName: 1 });
    await orders.forget('domain:dom_x:1', orderUnheardOf(asked.orderKey));
    expect(await usedOf()).toMatchObject({ orders: 0, exactName: 0 });
  });

  testOnBoth(
    'when domains compete for the last order of their account, one begins it, and it counts at once',
    async () => {
      const project = await servedProject(stores);
      const added: CustomDomain[] = [];
      for (let n = 0; n < 6; n++) added.push(await newDomain(stores, project));
      const { accountId: theirs } = project;
      for (let n = 1; n < caBudgets.accountHour.stopAt; n++)
        await enter(entry({ accountId: theirs, orderKey: String(n) }));
      for (const { id } of added) await stores.domains.change(id, verify);
      const { won, lost } = await race(6, (n) => {
        const { domains } = n % 2 ? stores.secondProcess : stores;
        return domains.changeCounted(added[n]!.id, { authority, now }, (domain, use) => {
          const known = workOf(domain)!;
          const claim = claimOrder(known, { known, authority, kind: 'new', use }, now);
          return domainAfter(domain, claim, now);
        });
      });
      expect(lost).toEqual([]);
      const begun = won.filter(({ outcome }) => outcome.kind === 'begun');
      expect(begun).toHaveLength(1);
      for (const { state } of won) expect(await stores.domains.get(state.id)).toEqual(state);
      const { accountOrders } = await ledger.use({ ...cats, accountId: theirs }, now);
      expect(accountOrders).toHaveLength(caBudgets.accountHour.stopAt);
      await stores.edgeWriter.writeLedger(orderNotMade(orderSubject(begun[0]!.state)));
      const after = await ledger.use({ ...cats, accountId: theirs }, now);
      expect(after.accountOrders).toHaveLength(caBudgets.accountHour.stopAt - 1);
    },
  );

  test('when the timeline cannot be written, neither the ledger nor the order of the domain changes', async () => {
    const { id } = await newDomain(stores, await servedProject(stores));
    const subject = `domain:${id}:0`;
    await stores.certificateOrders.begin({
      authority,
      subject,
      host: cats.host,
      privateKey: 'key',
    });
    await enter(entry());
    const before = await usedOf();
    // JSON cannot represent it.
    const cause = { kind: 'attempt', occurredAt: now, details: { number: 1n } } as const;
    const freed = [{ kind: 'order', orderKey: asked.orderKey }] as const;
    const changing = stores.domains.change(id, (domain) => ({
      ...unchanged(domain),
      cause,
      endsOrder: subject,
      ledger: { freed, entered: [entry({ kind: 'failure' })] },
    }));
    await expect(changing).rejects.toThrow(/BigInt/);
    expect(await usedOf()).toEqual(before);
    expect(await stores.certificateOrders.find(subject)).toBeDefined();
  });

  test('a sweep deletes entries older than a given time', async () => {
    for (const at of [1, 2, 3]) await enter(entry({ occurredAt: later(at) }));
    expect(await stores.retention.sweep('authority_ledger', later(3))).toBe(2);
    expect(await stores.retention.sweep('authority_ledger', later(3))).toBe(0);
    expect((await ledger.use(cats, now)).orders).toEqual([later(3)]);
  });
});
