import type { OrderKind } from './ca-budget.ts';
import type { OrderEnd } from './certificate-order.ts';
import { keepsOrder } from './certificate-standing.ts';

/** For what the use of the budgets is counted. */
export interface LedgerName {
  /** Whose name it is. */
  readonly accountId: string;
  readonly host: string;
  readonly registrableDomain: string;
}

/** What the authority was asked for, or may have been, and what came of it. */
export interface LedgerEntry extends LedgerName {
  /**
   * An `order` is for a name without a certificate. `issued`: a certificate, or an order that may become one.
   * An order that the authority exempts is a `renewal` until the authority has said so.
   */
  readonly kind: 'order' | 'renewal' | 'failure' | 'issued';
  /** What it belongs to: whenever the authority is asked for an order, that is another one. */
  readonly orderKey: string;
  /** The owner asked for it. */
  readonly isManual: boolean;
  readonly occurredAt: Date;
}

/** An order that the authority is about to be asked for. */
export type AskedOrder = Omit<LedgerEntry, 'kind'> & { readonly kind: OrderKind };

/** First what is freed is taken out, then what is entered counts. */
export interface LedgerChange {
  readonly freed?: readonly Pick<LedgerEntry, 'kind' | 'orderKey'>[];
  readonly entered?: readonly LedgerEntry[];
}

/** The budgets for certificates are not meant for a project's own host. */
const enteredAs = {
  new: ['order', 'issued'],
  renewal: ['renewal', 'issued'],
  exempt: ['renewal', 'issued'],
  own: ['order'],
  own_renewal: ['renewal'],
} as const satisfies Readonly<Record<OrderKind, readonly LedgerEntry['kind'][]>>;

/**
 * Stored before the authority is asked: from then on the order counts, whether or not anybody hears of it, until it is
 * certain that there is none.
 */
export const orderAsked = (order: AskedOrder): LedgerChange => ({
  entered: enteredAs[order.kind].map((kind) => ({ ...order, kind })),
});

/** The authority was certainly not asked, or certainly made no order. */
export const orderNotMade = (orderKey: string): LedgerChange =>
  freed(orderKey, 'order', 'renewal', 'issued');

/** The authority may have made it, but nobody knows its address: no certificate can come of it. */
export const orderUnheardOf = (orderKey: string): LedgerChange => freed(orderKey, 'issued');

/** The authority made it, and counts none. */
export const orderExempted = (orderKey: string): LedgerChange => freed(orderKey, 'renewal');

/** What came of an order. @param order as its failure or its certificate counts */
export const orderEnded = (
  { orderKey, ...name }: Omit<LedgerEntry, 'kind' | 'occurredAt'>,
  end: OrderEnd,
  now: Date,
): LedgerChange => {
  const entry = { ...name, orderKey, occurredAt: now };
  if (end.kind === 'issued') {
    return { ...freed(orderKey, 'issued'), entered: [{ ...entry, kind: 'issued' }] };
  }
  const { reason } = end.failure;
  const entered = keepsOrder(reason) ? [] : [{ ...entry, kind: 'failure' as const }];
  if (end.kind === 'failed')
    return { ...(endsForSure(reason) && freed(orderKey, 'issued')), entered };
  return { ...(end.counts ? orderUnheardOf(orderKey) : orderNotMade(orderKey)), entered };
};

/** An order that is gone may have become a certificate before. */
const endsForSure = (reason: Parameters<typeof keepsOrder>[0]): boolean =>
  !keepsOrder(reason) && reason !== 'order_gone';

const freed = (orderKey: string, ...kinds: readonly LedgerEntry['kind'][]) => ({
  freed: kinds.map((kind) => ({ kind, orderKey })),
});
