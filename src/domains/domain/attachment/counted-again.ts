import { mayOrder, type CaUse, type Hold } from '../certificates/ca-budget.ts';
import { orderAsked } from '../certificates/ca-ledger.ts';
import { isManual } from '../certificates/standing.ts';
import { fenceOf, withoutOrder } from './certificate.ts';
import type { DomainChange } from './change.ts';
import { unchanged, type CustomDomain } from './custom-domain.ts';
import { orderSubject } from './order-subject.ts';
import { heldUp, ledgerName } from './order.ts';

/** The authority made no order, because it does not exempt it. The next one counts, if the budgets allow it. */
export const orderCountedAgain = (
  domain: CustomDomain,
  { ordered, use }: { readonly ordered: CustomDomain; readonly use: CaUse },
  now: Date,
): DomainChange & { readonly hold?: Hold } => {
  const kind = 'renewal';
  const budget = mayOrder(use, { isManual: isManual(ordered), kind }, now);
  if (!budget.allowed) return { ...unchanged(domain), hold: budget };
  return {
    ...unchanged(domain),
    ledger: orderAsked({ ...ledgerName(ordered), kind, occurredAt: now }),
  };
};

/** No order was made, because a budget is used up: see `orderCountedAgain`. */
export const orderHeldUp = (
  domain: CustomDomain,
  { ordered, hold }: { readonly ordered: CustomDomain; readonly hold: Hold },
  now: Date,
): DomainChange => {
  const left = withoutOrder(domain, fenceOf(ordered));
  if (!left) return unchanged(domain);
  return { ...heldUp(left.state, hold, now), endsOrder: orderSubject(ordered) };
};
