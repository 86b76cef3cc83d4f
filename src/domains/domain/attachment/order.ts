import { mayOrder, type CaUse, type Hold, type WantedAttempt } from '../certificates/ca-budget.ts';
import {
  isOver,
  orderAsked,
  orderEnded,
  orderUnheardOf,
  type AskedOrder,
  type FailedEnd,
} from '../certificates/ca-ledger.ts';
import { isCertified, orderedAt, postponeAttempt, withWork } from './plan.ts';
import {
  hasRenewalPlan,
  isManual,
  isOrdered,
  isRenewal,
  workOn,
} from '../certificates/standing.ts';
import type { Certificate } from '../certificates/certificate.ts';
import { unchanged, type CustomDomain, type DomainDecision } from './custom-domain.ts';
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
  /** Name of the authority that is asked. */
  readonly authority: string;
  readonly kind: AskedOrder['kind'];
  readonly use: CaUse;
}

/** The kind of a new order at an authority, as far as the domain alone shows. */
const orderKind = (domain: CustomDomain, authority: string): 'new' | 'renewal' | 'exempt' => {
  if (!isRenewal(domain)) return 'new';
  return hasRenewalPlan(domain) && mayReplace(domain, authority) ? 'exempt' : 'renewal';
};

/** Whether its certificate is that authority's own, so that an order may say that it replaces it. */
export const mayReplace = ({ certificate }: CustomDomain, authority: string): boolean =>
  certificate.kind === 'issued' && [authority, ''].includes(certificate.issuedBy);

/** The current or next attempt, as the budgets see it. */
export const wantedAttempt = (domain: CustomDomain, authority: string): WantedAttempt => ({
  isManual: isManual(domain),
  kind: isOrdered(domain) ? 'counted' : orderKind(domain, authority),
});

/** A new order begins and counts from now on, if it is still wanted and the budgets allow it. */
export const claimOrder = (
  domain: CustomDomain,
  { fence, authority, kind, use }: ClaimFacts,
  now: Date,
): OrderClaim => {
  const { verdict, ...started } = orderStarted(domain, { ...fence, authority }, now);
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

/**
 * The authority that has the order has not answered for long, so another one is asked. The first one may still issue, so
 * the order counts.
 */
export const orderLeft = (domain: CustomDomain, fence: Fence, now: Date): DomainChange => {
  const left = withoutOrder(domain, fence);
  if (!left) return unchanged(domain);
  const cause = attempt({ outcome: 'left', authority: atAuthority(domain) }, now);
  return { ...left, cause, endsOrder: orderSubject(domain) };
};

/** The authority works on it, so it is not away. */
export const orderProcessing = (domain: CustomDomain, until: Date): DomainDecision => {
  const later = postponeAttempt(domain, until);
  if (!isCertified(later.state) || later.state.certificate.work.step !== 'ordered') return later;
  const { work } = later.state.certificate;
  const { [work.authority]: _, ...turns } = work.attempts.turns;
  return {
    ...later,
    state: withWork(later.state, { ...work, attempts: { ...work.attempts, turns } }),
  };
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
    cause: attempt({ outcome, notAfter, authority: atAuthority(ordered) }, now),
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
    ? certificateFailed(
        domain,
        { ...fence, failure, issuers, isPlaced: end.kind === 'failed' },
        now,
      )
    : unchanged(domain);
  const hasEnded = isOver(end) || workOn(state)?.step === 'waits_for_owner';
  return {
    state: (hasEnded ? withoutOrder(state, fence)?.state : undefined) ?? state,
    events,
    ...(hasEnded && { endsOrder: orderSubject(ordered) }),
    cause: attempt({ outcome: 'failed', ...failure, authority: atAuthority(ordered) }, now),
    ledger: orderEnded(ledgerName(ordered), end, now),
  };
};

/** As the ledger knows its order. */
export const ledgerName = (domain: CustomDomain) => {
  const { accountId, host, registrableDomain } = domain;
  const orderKey = orderSubject(domain);
  const authority = isCertified(domain) ? orderedAt(domain) : '';
  return { authority, accountId, host, registrableDomain, isManual: isManual(domain), orderKey };
};

/** @returns undefined for an order of version 1.0.0 */
const atAuthority = (ordered: CustomDomain): string | undefined =>
  (isCertified(ordered) && orderedAt(ordered)) || undefined;

const attempt = (details: TimelineEntry['details'], occurredAt: Date): TimelineEntry => ({
  kind: 'attempt',
  occurredAt,
  details,
});
