import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { MemoryAuthorityLedger } from '../../memory/memory-authority-ledger.ts';
import {
  mayOrder,
  type BudgetVerdict,
  type CaUse,
  type OrderKind,
} from '../../../src/domains/domain/certificates/ca-budget.ts';
import { orderAsked, orderExempted } from '../../../src/domains/domain/certificates/ca-ledger.ts';
import { after, day, hour, minute } from '../../support/domains/known-domains.ts';

interface Order {
  readonly account: number;
  readonly kind: OrderKind;
  readonly at: number;
}

/** Orders of many accounts, each for a new name; allowed ones are entered. */
class Authority {
  readonly ledger = new MemoryAuthorityLedger();
  readonly orders: Order[] = [];
  #names = 0;

  async ask({ account, kind, at }: Order): Promise<BudgetVerdict> {
    const host = `shop.${String(++this.#names)}.example`;
    const accountId = `acct_${String(account)}`;
    const name = { authority: 'authority.test', accountId, host, registrableDomain: host };
    const now = after(at);
    const decide = (use: CaUse) => mayOrder(use, { isManual: false, kind }, now);
    const order = { ...name, kind, orderKey: host, isManual: false, occurredAt: now };
    const verdict = decide(await this.ledger.use(name, now));
    if (verdict.allowed) await this.ledger.settle(orderAsked(order));
    if (verdict.allowed) {
      this.orders.push({ account, kind, at });
      if (kind === 'exempt') await this.ledger.settle(orderExempted(host));
    } else {
      const use = await this.ledger.use(name, verdict.nextAt);
      expect(mayOrder(use, { isManual: false, kind }, verdict.nextAt)).toEqual({ allowed: true });
    }
    return verdict;
  }

  within(length: number, at: number, counts: (order: Order) => boolean): number {
    return this.orders.filter((one) => one.at > at - length && counts(one)).length;
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

test('every account gets its share and no more, whatever the order of requests', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(rush, { maxLength: 25 }), async (rushes) => {
      const authority = new Authority();
      let at = 0;
      for (const { account, kind, many, isCrowd, wait } of rushes) {
        at += wait;
        for (let n = 0; n < many; n++) {
          const order = { account: isCrowd ? account + n : account, kind, at };
          const expected = mayPass(authority, order);
          expect((await authority.ask(order)).allowed).toBe(expected);
        }
        const counted = authority.within(3 * hour, at, (one) => one.kind !== 'exempt');
        expect(counted).toBeLessThanOrEqual(250);
        expect(authority.within(3 * hour, at, isNew)).toBeLessThanOrEqual(200);
      }
    }),
    { numRuns: 12 },
  );
});

test('an account that adds, verifies and removes endlessly does not stop the certificates of others', async () => {
  const authority = new Authority();
  for (let n = 0; n < 250; n++) await authority.ask({ account: 0, kind: 'new', at: n * 316 });
  expect(authority.orders).toHaveLength(10);
  for (let account = 1; account <= 190; account++) {
    const verdict = await authority.ask({ account, kind: 'new', at: 2 * minute });
    expect(verdict).toEqual({ allowed: true });
  }
});

test('however many accounts order, renewals find room', async () => {
  const authority = new Authority();
  for (let account = 0; account < 400; account++)
    await authority.ask({ account, kind: account % 2 ? 'own' : 'new', at: 0 });
  for (const kind of ['renewal', 'own_renewal'] as const)
    for (let n = 0; n < 25; n++)
      expect(await authority.ask({ account: n, kind, at: 1 })).toEqual({ allowed: true });
});

test('an account that never stops gets 10 orders an hour and 50 a day', async () => {
  const authority = new Authority();
  for (let at = 0; at < 2 * day; at += 5 * minute)
    await authority.ask({ account: 1, kind: 'new', at });
  const before = (end: number) => authority.orders.filter(({ at }) => at < end).length;
  expect([before(hour), before(day), before(2 * day)]).toEqual([10, 50, 100]);
});
