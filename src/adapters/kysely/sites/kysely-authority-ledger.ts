import {
  caWindows,
  type BudgetVerdict,
  type CaUse,
  type CaWindow,
  type Times,
} from '../../../domains/domain/certificates/ca-budget.ts';
import {
  orderAsked,
  type AskedOrder,
  type LedgerChange,
  type LedgerEntry,
  type LedgerName,
} from '../../../domains/domain/certificates/ca-ledger.ts';
import type { AuthorityLedger } from '../../../domains/certificate-ports.ts';
import { Store } from '../store.ts';
import type { Queries } from '../database.ts';
import { fromMillis, toMillis, type RowOf, type Schema } from '../schema.ts';

export class KyselyAuthorityLedger extends Store implements AuthorityLedger {
  use(name: LedgerName, now: Date): Promise<CaUse> {
    return useOf(this.db, name, now);
  }

  reserve(order: AskedOrder, decide: (use: CaUse) => BudgetVerdict): Promise<BudgetVerdict> {
    return this.database.transaction(async (db) => {
      await takeTurn(db);
      const verdict = decide(await useOf(db, order, order.occurredAt));
      if (verdict.allowed) await writeLedger(db, orderAsked(order));
      return verdict;
    });
  }

  async settle(change: LedgerChange): Promise<void> {
    await this.database.transaction((db) => writeLedger(db, change));
  }
}

// For the other adapters of this folder, in their transaction.

/** Serialises counting transactions. Call it first in the transaction. */
export const takeTurn = async (db: Queries): Promise<void> => {
  await db
    .updateTable('authority_turn')
    .set(({ eb }) => ({ turn: eb('turn', '+', 1n) }))
    .execute();
};

export const writeLedger = async (
  db: Queries,
  { freed = [], entered = [] }: LedgerChange,
): Promise<void> => {
  for (const { kind, orderKey } of freed) {
    await db
      .deleteFrom('authority_ledger')
      .where('order_key', '=', orderKey)
      .where('kind', '=', kind)
      .execute();
  }
  if (entered.length > 0)
    await db.insertInto('authority_ledger').values(entered.map(entryRow)).execute();
};

const entryRow = (entry: LedgerEntry) => {
  const { kind, orderKey, accountId, host, registrableDomain, isManual, occurredAt } = entry;
  return {
    ...{ kind, order_key: orderKey, account_id: accountId, host },
    registrable_domain: registrableDomain,
    is_manual: isManual ? 1n : 0n,
    occurred_at: toMillis(occurredAt),
  } satisfies RowOf<LedgerEntry>;
};

export const useOf = async (
  db: Queries,
  { accountId, host, registrableDomain }: LedgerName,
  now: Date,
): Promise<CaUse> => {
  const within = async (window: CaWindow, { kinds, ...what }: LedgerFilter): Promise<Times> => {
    const { lengthMs, most } = caWindows[window];
    let query = db
      .selectFrom('authority_ledger')
      .select('occurred_at')
      .where('kind', 'in', kinds)
      .where('occurred_at', '>', BigInt(now.getTime() - lengthMs))
      .orderBy('occurred_at', 'desc')
      .limit(most);
    for (const [column, value] of Object.entries(what)) {
      query = query.where(column as keyof typeof what, '=', value);
    }
    const rows = await query.execute();
    return rows.map(({ occurred_at }) => fromMillis(occurred_at));
  };
  const failures = { kinds: ['failure'], host } as const;
  const issued = { kinds: ['issued'] } as const;
  return {
    automaticFailures: await within('automaticFailures', { ...failures, is_manual: 0n }),
    manualFailures: await within('manualFailures', { ...failures, is_manual: 1n }),
    orders: await within('orders', { kinds: ['order', 'renewal'] }),
    accountOrders: await within('accountOrders', { kinds: ['order'], account_id: accountId }),
    registeredDomain: await within('registeredDomain', {
      ...issued,
      registrable_domain: registrableDomain,
    }),
    exactName: await within('exactName', { ...issued, host }),
  };
};

type LedgerFilter = { readonly kinds: readonly LedgerEntry['kind'][] } & Partial<
  Pick<Schema['authority_ledger'], 'account_id' | 'host' | 'registrable_domain' | 'is_manual'>
>;
