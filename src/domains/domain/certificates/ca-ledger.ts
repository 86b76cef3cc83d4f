import type { OrderKind } from './ca-budget.ts';
import type { OrderEnd } from './order.ts';
import { keepsOrder } from './standing.ts';

/** The authority, account and name that a budget's use is counted for. */
export interface LedgerName {
  /** The name of the authority that is asked: each has its own limits. */
  readonly authority: string;
  readonly accountId: string;
  readonly host: string;
  readonly registrableDomain: string;
}

/**
 * An `order` is for a name without a certificate. `issued`: a certificate, or an order that may become one. `own`: the
 * same, for a project's own host. An order that the authority exempts is a `renewal` until the authority has said so.
 */
export const ledgerKinds = ['order', 'renewal', 'failure', 'issued', 'own'] as const;

/** A request that the authority received, or may have received, and its outcome. */
export interface LedgerEntry extends LedgerName {
  readonly kind: (typeof ledgerKinds)[number];
  /** The order it belongs to; every request for an order has its own key. */
  readonly orderKey: string;
  /** The owner asked for it. */
  readonly isManual: boolean;
  readonly occurredAt: Date;
}

/** An order that the authority is about to be asked for. */
export type AskedOrder = Omit<LedgerEntry, 'kind'> & { readonly kind: OrderKind };

/** Freed entries are removed before new entries are counted. */
export interface LedgerChange {
  readonly freed?: readonly Pick<LedgerEntry, 'kind' | 'orderKey'>[];
  readonly entered?: readonly LedgerEntry[];
}

export type FailedEnd = Exclude<OrderEnd, { kind: 'issued' }>;

const enteredAs = {
  new: ['order', 'issued'],
  renewal: ['renewal', 'issued'],
  exempt: ['renewal', 'issued'],
  own: ['order', 'own'],
  own_renewal: ['renewal'],
} as const satisfies Readonly<Record<OrderKind, readonly LedgerEntry['kind'][]>>;

/** What counts as a certificate. */
const brought = ['issued', 'own'] as const;

/**
 * Stored before the request is sent: the order counts from then on, even if the answer is lost, until it is certain
 * that none exists.
 */
export const orderAsked = (order: AskedOrder): LedgerChange => ({
  entered: enteredAs[order.kind].map((kind) => ({ ...order, kind })),
});

/** The authority was certainly not asked, or certainly made no order. */
export const orderNotMade = (orderKey: string): LedgerChange =>
  freed(orderKey, 'order', 'renewal', ...brought);

/** The authority may have created it, but its URL is lost, so it cannot become a certificate. */
export const orderUnheardOf = (orderKey: string): LedgerChange => freed(orderKey, ...brought);

/** The authority created it and exempts it from its limits. */
export const orderExempted = (orderKey: string): LedgerChange => freed(orderKey, 'renewal');

/** The outcome of an order. @param order the entry under which its failure or certificate counts */
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
    return { ...(endsForSure(reason) && freed(orderKey, ...brought)), entered };
  return { ...(end.counts ? orderUnheardOf(orderKey) : orderNotMade(orderKey)), entered };
};

/**
 * How an order for a project's own host failed. Its attempts are known from the ledger alone, so each one that the
 * authority may have counted is a failure here: that delays the next one.
 */
export const ownOrderFailed = (
  name: Omit<LedgerEntry, 'kind' | 'occurredAt'>,
  end: FailedEnd,
  now: Date,
): LedgerChange => {
  const ended = orderEnded(name, end, now);
  const mayCount =
    end.failure.reason === 'rate_limited' || (end.kind === 'not_placed' && end.counts);
  return mayCount ? { ...ended, entered: [{ ...name, kind: 'failure', occurredAt: now }] } : ended;
};

/** Whether nothing of the order can be continued. */
export const isOver = (end: FailedEnd): boolean =>
  end.kind === 'not_placed' || !keepsOrder(end.failure.reason);

/** An order that no longer exists may have become a certificate before. */
const endsForSure = (reason: Parameters<typeof keepsOrder>[0]): boolean =>
  !keepsOrder(reason) && reason !== 'order_gone';

const freed = (orderKey: string, ...kinds: readonly LedgerEntry['kind'][]) => ({
  freed: kinds.map((kind) => ({ kind, orderKey })),
});
