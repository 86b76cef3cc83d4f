import {
  mayOrder,
  type BudgetVerdict,
  type CaUse,
  type Hold,
  type OrderKind,
} from '../certificates/ca-budget.ts';
import {
  isOver,
  orderAsked,
  orderUnheardOf,
  ownOrderFailed,
  type FailedEnd,
  type LedgerChange,
  type LedgerName,
} from '../certificates/ca-ledger.ts';
import type { Certificate } from '../certificates/certificate.ts';
import { isLeft } from '../certificates/authorities.ts';
import {
  ownChoice,
  ownFailed,
  ownIssued,
  ownOrderedAt,
  ownOrderStarted,
  ownProcessing,
  withoutOwnOrder,
  type OwnName,
} from './own-name.ts';

/** A decision on a name of our own and everything that depends on it: stored as a whole or not at all. */
export interface OwnChange {
  readonly name: OwnName;
  readonly ledger?: LedgerChange;
  /** The certificate that serves it from now on. */
  readonly certificate?: Certificate;
  /** Subject of an order that has ended: it is deleted with its challenges and key. */
  readonly endsOrder?: string;
}

/** What an order for a name of our own is kept under. Version 1.0.0 had one subject for all orders of a name. */
export const ownSubject = ({ host, generation }: Pick<OwnName, 'host' | 'generation'>): string =>
  generation <= 1 ? `platform:${host}` : `platform:${host}:${String(generation)}`;

/** As the ledger counts it. */
type OwnLedgerName = Omit<LedgerName, 'host'>;

export interface OwnClaim {
  /** Of the name as the worker knows it. */
  readonly generation: number;
  readonly ledgerName: OwnLedgerName;
  readonly kind: OrderKind;
  readonly use: CaUse;
}

export interface ClaimedOwn extends OwnChange {
  readonly verdict: BudgetVerdict | 'too_late';
}

/** A new order begins and counts from now on, if no other worker was faster and the budgets allow it. */
export const claimOwnOrder = (
  name: OwnName,
  { generation, ledgerName, kind, use }: OwnClaim,
  now: Date,
): ClaimedOwn => {
  if (name.generation !== generation) return { name, verdict: 'too_late' };
  const verdict = mayOrder(use, { isManual: false, kind }, now);
  if (!verdict.allowed) return { name, verdict };
  const started = ownOrderStarted(name, ledgerName.authority, now);
  const order = { ...ledgerName, host: name.host, orderKey: ownSubject(started), kind };
  const { entered = [] } = orderAsked({ ...order, isManual: false, occurredAt: now });
  // The answer to an order under way was lost: it may exist, but nobody can continue it.
  const isLost = ownOrderedAt(name) !== undefined;
  return isLost
    ? {
        ...{ name: started, verdict, endsOrder: ownSubject(name) },
        ledger: { ...orderUnheardOf(ownSubject(name)), entered },
      }
    : { name: started, verdict, ledger: { entered } };
};

/** The authority made no order, because it does not exempt it. The next one counts, if the budgets allow it. */
export const countOwnAgain = (
  name: OwnName,
  { ledgerName, kind, use }: Omit<OwnClaim, 'generation'>,
  now: Date,
): OwnChange & { readonly hold?: Hold } => {
  const budget = mayOrder(use, { isManual: false, kind }, now);
  if (!budget.allowed) return { name, hold: budget };
  const order = { ...ledgerName, host: name.host, orderKey: ownSubject(name), kind };
  return { name, ledger: orderAsked({ ...order, isManual: false, occurredAt: now }) };
};

/** The authority that has the order has not answered for long, so another one is asked. */
export const leaveOwnOrder = (
  name: OwnName,
  { generation, mayIssue }: { readonly generation: number; readonly mayIssue: readonly string[] },
  now: Date,
): OwnChange => {
  const at = ownOrderedAt(name);
  const isOld = name.generation !== generation;
  if (isOld || at === undefined || !isLeft(ownChoice(name, mayIssue), at, now)) return { name };
  return { name: withoutOwnOrder(name, now), endsOrder: ownSubject(name) };
};

type OwnEnd =
  | { readonly kind: 'issued'; readonly certificate: Certificate }
  | FailedEnd
  | { readonly kind: 'held_up'; readonly hold: Hold }
  | { readonly kind: 'processing'; readonly askAgainAfterMs: number };

interface SettledOwn {
  /** Of the order. */
  readonly generation: number;
  readonly end: OwnEnd;
  readonly ledgerName: OwnLedgerName;
  readonly mayIssue: readonly string[];
}

/** What came of an order. Of an older order, or one that another worker has settled, nothing is kept. */
export const settleOwnOrder = (
  name: OwnName,
  { generation, end, ledgerName, mayIssue }: SettledOwn,
  now: Date,
): OwnChange => {
  if (name.generation !== generation || ownOrderedAt(name) === undefined) return { name };
  const orderKey = ownSubject(name);
  const entry = { ...ledgerName, host: name.host, orderKey, isManual: false };
  switch (end.kind) {
    case 'processing':
      return { name: ownProcessing(name, new Date(now.getTime() + end.askAgainAfterMs)) };
    case 'held_up':
      return { name: withoutOwnOrder(name, end.hold.nextAt), endsOrder: orderKey };
    case 'issued':
      return {
        ...{ name: ownIssued(name, end.certificate, now), certificate: end.certificate },
        endsOrder: orderKey,
      };
    case 'failed':
    case 'not_placed': {
      const hasEnded = isOver(end);
      const failed = { failure: end.failure, isPlaced: end.kind === 'failed' };
      return {
        name: ownFailed(name, { ...failed, isKept: !hasEnded, mayIssue }, now),
        ledger: ownOrderFailed(entry, end, now),
        ...(hasEnded && { endsOrder: orderKey }),
      };
    }
  }
};
