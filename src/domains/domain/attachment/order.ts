import { mayOrder, type CaUse, type Hold, type WantedAttempt } from '../certificates/ca-budget.ts';
import {
  isOver,
  orderAsked,
  orderEnded,
  orderUnheardOf,
  type AskedOrder,
  type FailedEnd,
} from '../certificates/ca-ledger.ts';
import { postponeAttempt } from './plan.ts';
import { hasRenewalPlan, isManual, isOrdered, workOn } from '../certificates/standing.ts';
import type { Certificate } from '../certificates/certificate.ts';
import { unchanged, type CustomDomain } from './custom-domain.ts';
import {
  certificateFailed,
  certificateIssued,
  fenceOf,
  orderStarted,
  withoutOrder,
  type Fence,
} from './certificate.ts';
import type { DomainChange } from './change.ts';
import type { TimelineEntry } from './timeline.ts';
import { orderSubject } from './order-subject.ts';

// Each order of a domain has its own generation and is requested from the authority once.

export interface OrderClaim extends DomainChange {
  readonly verdict: 'begun' | 'held_up' | 'too_late';
}

interface ClaimFacts {
  readonly fence: Fence;
  readonly kind: AskedOrder['kind'];
  readonly use: CaUse;
}

/** The kind of a new order, as far as the domain alone shows. */
export const orderKind = (domain: CustomDomain): 'new' | 'renewal' | 'exempt' => {
  if (hasRenewalPlan(domain)) return 'exempt';
  return domain.state === 'live' ? 'renewal' : 'new';
};

/** The current or next attempt, as the budgets see it. */
export const wantedAttempt = (domain: CustomDomain): WantedAttempt => ({
  isManual: isManual(domain),
  kind: isOrdered(domain) ? 'counted' : orderKind(domain),
});

/** A new order begins and counts from now on, if it is still wanted and the budgets allow it. */
export const claimOrder = (
  domain: CustomDomain,
  { fence, kind, use }: ClaimFacts,
  now: Date,
): OrderClaim => {
  const { verdict, ...started } = orderStarted(domain, fence, now);
  if (verdict === 'destroy') return { ...started, verdict: 'too_late' };
  const budget = mayOrder(use, { isManual: isManual(domain), kind }, now);
  if (!budget.allowed) return { ...heldUp(domain, budget, now), verdict: 'held_up' };
  const ledger = orderAsked({ ...ledgerName(started.state), kind, occurredAt: now });
  return { ...started, ledger, verdict: 'begun' };
};

/** The attempt waits for a budget. */
export const heldUp = (
  domain: CustomDomain,
  { reason, nextAt }: Hold,
  now: Date,
): DomainChange => ({
  ...postponeAttempt(domain, nextAt),
  cause: attempt({ outcome: 'postponed', budget: reason, until: nextAt }, now),
});

/**
 * The worker that requested this order died before it stored the answer. The authority may have created an order that
 * cannot be continued: it counts, and the next attempt requests a new one.
 */
export const orderUnanswered = (domain: CustomDomain, fence: Fence, now: Date): DomainChange => {
  const subject = orderSubject({ id: fence.attachmentId, generation: fence.generation });
  const lost = withoutOrder(domain, fence);
  if (!lost) return unchanged(domain);
  const cause = attempt({ outcome: 'unanswered' }, now);
  return { ...lost, cause, ledger: orderUnheardOf(subject), endsOrder: subject };
};

/** Takes the certificate of an order. One that arrives too late is destroyed, but still counts. */
export const orderBrought = (
  domain: CustomDomain,
  { ordered, certificate }: { readonly ordered: CustomDomain; readonly certificate: Certificate },
  now: Date,
): DomainChange => {
  const { notBefore, notAfter } = certificate;
  const brought = { ...fenceOf(ordered), notBefore, notAfter };
  const { verdict, ...decision } = certificateIssued(domain, brought, now);
  const endsOrder = orderSubject(ordered);
  // The same certificate arrived twice.
  if (verdict === 'taken' && decision.events.length === 0) return { ...decision, endsOrder };
  const outcome = verdict === 'taken' ? 'issued' : 'came too late, destroyed';
  return {
    ...decision,
    ...(verdict === 'taken' && { certificate }),
    endsOrder,
    cause: attempt({ outcome, notAfter }, now),
    ledger: orderEnded(ledgerName(ordered), { kind: 'issued', certificate }, now),
  };
};

interface FailedOrder {
  readonly ordered: CustomDomain;
  readonly end: FailedEnd;
  /** The authority's names in CAA records. */
  readonly issuers: readonly string[];
}

/** An order failed, or the authority created none. */
export const orderFailed = (
  domain: CustomDomain,
  { ordered, end, issuers }: FailedOrder,
  now: Date,
): DomainChange => {
  const { failure } = end;
  const fence = fenceOf(ordered);
  // Another worker has recorded this already.
  const { state, events } = isOrdered(domain)
    ? certificateFailed(domain, { ...fence, failure, issuers }, now)
    : unchanged(domain);
  const hasEnded = isOver(end) || workOn(state)?.step === 'waits_for_owner';
  return {
    state: (hasEnded ? withoutOrder(state, fence)?.state : undefined) ?? state,
    events,
    ...(hasEnded && { endsOrder: orderSubject(ordered) }),
    cause: attempt({ outcome: 'failed', ...failure }, now),
    ledger: orderEnded(ledgerName(ordered), end, now),
  };
};

const ledgerName = (domain: CustomDomain) => {
  const { accountId, host, registrableDomain } = domain;
  const orderKey = orderSubject(domain);
  return { accountId, host, registrableDomain, isManual: isManual(domain), orderKey };
};

const attempt = (details: TimelineEntry['details'], occurredAt: Date): TimelineEntry => ({
  kind: 'attempt',
  occurredAt,
  details,
});
