import {
  caWindows,
  type CaUse,
  type CaWindow,
  type Times,
  type LedgerChange,
  type LedgerEntry,
  type LedgerName,
} from '../../../domains/domain/certificates/ca-budget.ts';
import type { AuthorityLedger } from '../../../domains/certificate-ports.ts';
import { Store } from '../store.ts';
import type { Queries } from '../database.ts';
import { fromMillis, type Schema } from '../schema.ts';
import { authorityLedger } from './tables.ts';

export class KyselyAuthorityLedger extends Store implements AuthorityLedger {
  use(name: LedgerName, now: Date): Promise<CaUse> {
    return useOf(this.db, name, now);
  }

  orders(authority: string, now: Date): Promise<Times> {
    return within(this.db, { authority, now }, 'orders', ordersOfAll);
  }
}

/** Serialises transactions that count. Call it first. */
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
  if (entered.length === 0) return;
  const rows = entered.map((entry) => authorityLedger.write(entry));
  await db.insertInto('authority_ledger').values(rows).execute();
};

export const useOf = async (
  db: Queries,
  { authority, accountId, host, registrableDomain }: LedgerName,
  now: Date,
): Promise<CaUse> => {
  const times = (window: CaWindow, what: LedgerFilter) =>
    within(db, { authority, now }, window, what);
  const failures = { kinds: ['failure'], host } as const;
  const issued = { kinds: ['issued'] } as const;
  const everywhere = { authority: undefined, now };
  return {
    automaticFailures: await times('automaticFailures', { ...failures, is_manual: 0n }),
    manualFailures: await times('manualFailures', { ...failures, is_manual: 1n }),
    orders: await times('orders', ordersOfAll),
    accountOrders: await times('accountOrders', { kinds: ['order'], account_id: accountId }),
    registeredDomain: await times('registeredDomain', {
      kinds: ['issued', 'own'],
      registrable_domain: registrableDomain,
    }),
    exactName: await times('exactName', { ...issued, host }),
    ownHosts: await within(db, everywhere, 'ownHosts', { kinds: ['own'] }),
  };
};

const ordersOfAll = { kinds: ['order', 'renewal'] } as const;

const within = async (
  db: Queries,
  { authority, now }: { readonly authority: string | undefined; readonly now: Date },
  window: CaWindow,
  { kinds, ...what }: LedgerFilter,
): Promise<Times> => {
  const { lengthMs, most } = caWindows[window];
  let query = db
    .selectFrom('authority_ledger')
    .select('occurred_at')
    .where('kind', 'in', kinds)
    .where('occurred_at', '>', BigInt(now.getTime() - lengthMs))
    .orderBy('occurred_at', 'desc')
    .limit(most);
  if (authority !== undefined) query = query.where('authority', '=', authority);
  for (const [column, value] of Object.entries(what)) {
    query = query.where(column as keyof typeof what, '=', value);
  }
  const rows = await query.execute();
  return rows.map(({ occurred_at }) => fromMillis(occurred_at));
};

type LedgerFilter = { readonly kinds: readonly LedgerEntry['kind'][] } & Partial<
  Pick<Schema['authority_ledger'], 'account_id' | 'host' | 'registrable_domain' | 'is_manual'>
>;
