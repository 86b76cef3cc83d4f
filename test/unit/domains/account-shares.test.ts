import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  caWindows,
  mayOrder,
  type BudgetVerdict,
  type CaUse,
  type CaWindow,
  type OrderKind,
  orderAsked,
  orderExempted,
  type LedgerChange,
  type LedgerEntry,
} from '../../../src/domains/domain/certificates/ca-budget.ts';
import { after, day, hour, minute } from '../../support/domains/known-domains.ts';

interface Order {
  readonly account: number;
  readonly kind: OrderKind;
  readonly at: number;
}

/** Orders of many accounts, each for a new name; allowed ones are entered. */
class Authority {
  readonly orders: Order[] = [];
  #entries: readonly LedgerEntry[] = [];

  ask(asked: Order): BudgetVerdict {
    const { account, kind, at } = asked;
    const host = `shop.${String(this.orders.length)}.example`;
    const name = { authority: 'authority.test', accountId: `acct_${String(account)}`, host };
    const decide = (now: Date) =>
      mayOrder(this.#use(name.accountId, now), { isManual: false, kind }, now);
    const verdict = decide(after(at));
    if (verdict.allowed) {
      this.orders.push(asked);
      const order = { ...name, registrableDomain: host, orderKey: host, isManual: false, kind };
      this.#settle(orderAsked({ ...order, occurredAt: after(at) }));
      if (kind === 'exempt') this.#settle(orderExempted(host));
    } else {
      expect(decide(verdict.nextAt)).toEqual({ allowed: true });
    }
    return verdict;
  }

  within(length: number, at: number, counts: (order: Order) => boolean): number {
    return this.orders.filter((one) => one.at > at - length && counts(one)).length;
  }

  #settle({ freed = [], entered = [] }: LedgerChange): void {
    const isFreed = ({ kind, orderKey }: LedgerEntry) =>
      freed.some((one) => one.kind === kind && one.orderKey === orderKey);
    this.#entries = [...entered, ...this.#entries.filter((one) => !isFreed(one))];
  }

  #use(accountId: string, now: Date): CaUse {
    const within = (window: CaWindow, counts: (entry: LedgerEntry) => boolean) => {
      const { lengthMs, most } = caWindows[window];
      return this.#entries
        .filter((one) => one.occurredAt.getTime() > now.getTime() - lengthMs && counts(one))
        .map(({ occurredAt }) => occurredAt)
        .slice(0, most);
    };
    return {
      orders: within('orders', ({ kind }) => kind === 'order' || kind === 'renewal'),
      accountOrders: within(
        'accountOrders',
        (one) => one.kind === 'order' && one.accountId === accountId,
      ),
      ownHosts: within('ownHosts', ({ kind }) => kind === 'own'),
      // No name is ordered twice, and none fails.
      ...{ automaticFailures: [], manualFailures: [], registeredDomain: [], exactName: [] },
    };
  }
}

const isNew = ({ kind }: Pick<Order, 'kind'>) => kind === 'new' || kind === 'own';

/** The rules, written a second time, independent of the domain. */
const mayPass = (authority: Authority, { account, kind, at }: Order): boolean => {
  if (kind === 'exempt') return true;
  const all = authority.within(3 * hour, at, (one) => one.kind !== 'exempt');
  if (!isNew({ kind })) return all < 250;
  const mine = (length: number) =>
    authority.within(length, at, (one) => one.account === account && isNew(one));
  if (mine(hour) >= 10 || mine(day) >= 50) return false;
  const hosts = authority.within(7 * day, at, (one) => one.kind === 'own');
  if (kind === 'own' && hosts >= 20) return false;
  return all < (mine(hour) > 0 ? 125 : 200);
};

const kinds: readonly OrderKind[] = ['new', 'own', 'renewal', 'own_renewal', 'exempt'];
const rush = fc.record({
  account: fc.nat(60),
  kind: fc.constantFrom(...kinds),
  many: fc.integer({ min: 1, max: 40 }),
  /** Each order by another account, or all by one. */
  isCrowd: fc.boolean(),
  wait: fc.integer({ min: 0, max: 90 * minute }),
});

test('every account gets its share and no more, whatever the order of requests', () => {
  fc.assert(
    fc.property(fc.array(rush, { maxLength: 25 }), (rushes) => {
      const authority = new Authority();
      let at = 0;
      for (const { account, kind, many, isCrowd, wait } of rushes) {
        at += wait;
        for (let n = 0; n < many; n++) {
          const order = { account: isCrowd ? account + n : account, kind, at };
          const expected = mayPass(authority, order);
          expect(authority.ask(order).allowed).toBe(expected);
        }
        const counted = authority.within(3 * hour, at, (one) => one.kind !== 'exempt');
        expect(counted).toBeLessThanOrEqual(250);
        expect(authority.within(3 * hour, at, isNew)).toBeLessThanOrEqual(200);
      }
    }),
    { numRuns: 12 },
  );
});

test('an account that adds, verifies and removes endlessly does not stop the certificates of others', () => {
  const authority = new Authority();
  for (let n = 0; n < 250; n++) authority.ask({ account: 0, kind: 'new', at: n * 316 });
  expect(authority.orders).toHaveLength(10);
  for (let account = 1; account <= 190; account++) {
    const verdict = authority.ask({ account, kind: 'new', at: 2 * minute });
    expect(verdict).toEqual({ allowed: true });
  }
});

test('however many accounts order, renewals find room', () => {
  const authority = new Authority();
  for (let account = 0; account < 400; account++)
    authority.ask({ account, kind: account % 2 ? 'own' : 'new', at: 0 });
  for (const kind of ['renewal', 'own_renewal'] as const)
    for (let n = 0; n < 25; n++)
      expect(authority.ask({ account: n, kind, at: 1 })).toEqual({ allowed: true });
});

test('an account that never stops gets 10 orders an hour and 50 a day', () => {
  const authority = new Authority();
  for (let at = 0; at < 2 * day; at += 5 * minute) authority.ask({ account: 1, kind: 'new', at });
  const before = (end: number) => authority.orders.filter(({ at }) => at < end).length;
  expect([before(hour), before(day), before(2 * day)]).toEqual([10, 50, 100]);
});
