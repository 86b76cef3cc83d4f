import {
  freshAttempts,
  nextAttempt,
  type Attempts,
  type NextAttempt,
  type AuthorityFailure,
  type OrderEnd,
  type OrderState,
  isOrdered,
  isRenewal,
  keepsOrder,
  latest,
  longestWait,
  planned,
  type IssuedCertificate,
} from './certificate-status.ts';
import { turnAfter } from './authorities.ts';
import { type Hold, isOver, orderEnded, ownOrderFailed, type FailedEnd } from './ca-budget.ts';
import { type Certificate, type Validity, nextRenewal, pauseBetweenQuestions } from './renewal.ts';
import {
  entryOf,
  heldUp,
  orderedAt,
  orderOf,
  postponed,
  stillOrdered,
  subjectOf,
  unchangedWork,
  withoutOrder,
  withStep,
  type CertificateWork,
  type WorkChange,
} from './certificate-work.ts';
import type { DnsProblem } from '../dns/problem.ts';
import { minuteMs, dayMs } from '../../../kernel/durations.ts';

export type OrderResult =
  | OrderEnd
  | Extract<OrderState, { kind: 'processing' }>
  | { readonly kind: 'held_up'; readonly hold: Hold };

interface Settled<Result extends OrderResult = OrderResult> {
  readonly ordered: CertificateWork;
  readonly result: Result;
  readonly issuers: readonly string[];
}

/** Settles the current order. For older orders, and those that another worker has settled, only the count changes. */
export const settleOrder = (
  work: CertificateWork | undefined,
  { ordered, result, issuers }: Settled,
  now: Date,
): WorkChange => {
  const current = stillOrdered(work, ordered);
  switch (result.kind) {
    case 'issued':
      return isKnown(work, ordered, result.certificate)
        ? { ...unchangedWork, endsOrder: subjectOf(ordered) }
        : orderBrought(current, { ordered, certificate: result.certificate }, now);
    case 'failed':
    case 'not_placed':
      return orderFailed(current, { ordered, result, issuers }, now);
    case 'held_up':
      return current
        ? { ...heldUp(withoutOrder(current), result.hold), endsOrder: subjectOf(ordered) }
        : unchangedWork;
    case 'processing': {
      const until = new Date(now.getTime() + result.askAgainAfterMs);
      return current ? orderProcessing(current, until) : unchangedWork;
    }
  }
};

const isKnown = (
  work: CertificateWork | undefined,
  ordered: CertificateWork,
  { notAfter }: Validity,
): boolean =>
  work?.certificate.kind === 'issued' &&
  !isOrdered(work) &&
  subjectOf(work) === subjectOf(ordered) &&
  work.certificate.notAfter.getTime() === notAfter.getTime();

const orderBrought = (
  current: CertificateWork | undefined,
  {
    ordered,
    certificate,
  }: { readonly ordered: CertificateWork; readonly certificate: Certificate },
  now: Date,
): WorkChange => {
  const told = { notAfter: certificate.notAfter, authority: orderedAt(ordered) };
  const end = { kind: 'issued', certificate } as const;
  const stored = {
    ...(!ordered.terms.isOurs && { ledger: orderEnded(entryOf(ordered), end, now) }),
    endsOrder: subjectOf(ordered),
  };
  if (!current) return { outcome: { kind: 'too_late', ...told }, ...stored };
  return {
    work: { ...current, certificate: issued(current, certificate, now) },
    outcome: { kind: 'issued', isRenewal: isRenewal(current), ...told },
    certificate,
    ...stored,
  };
};

const issued = (
  work: CertificateWork,
  { notBefore, notAfter }: Validity,
  now: Date,
): IssuedCertificate => {
  const validity = { notBefore, notAfter };
  return {
    kind: 'issued',
    ...validity,
    work: planned(nextRenewal({ ...validity, host: work.terms.host }, now)),
    askRenewalAt: new Date(now.getTime() + pauseBetweenQuestions(validity, now)),
    hasWindow: false,
    issuedBy: orderedAt(work),
  };
};

const orderProcessing = (current: CertificateWork, until: Date): WorkChange => {
  const order = orderOf(current);
  if (!order) return unchangedWork;
  const { [order.authority]: _, ...turns } = order.attempts.turns;
  const step = { ...order, at: until, attempts: { ...order.attempts, turns } };
  return { work: withStep(current, step), outcome: { kind: 'processing' } };
};

const orderFailed = (
  current: CertificateWork | undefined,
  { ordered, result: end, issuers }: Settled<FailedEnd>,
  now: Date,
): WorkChange => {
  const work = current && afterFailure(current, { end, issuers }, now);
  const hasEnded = isOver(end) || work?.certificate.work.step === 'waits_for_owner';
  return {
    ...(work && { work }),
    outcome: {
      kind: 'failed',
      failure: end.failure,
      authority: orderedAt(ordered),
      isLate: current === undefined,
    },
    ...countedAs(ordered, end, current === undefined, now),
    ...(hasEnded && { endsOrder: subjectOf(ordered) }),
  };
};

const countedAs = (
  ordered: CertificateWork,
  end: FailedEnd,
  isLate: boolean,
  now: Date,
): Pick<WorkChange, 'ledger'> => {
  if (!ordered.terms.isOurs) return { ledger: orderEnded(entryOf(ordered), end, now) };
  return isLate ? {} : { ledger: ownOrderFailed(entryOf(ordered), end, now) };
};

const afterFailure = (
  current: CertificateWork,
  { end, issuers }: { readonly end: FailedEnd; readonly issuers: readonly string[] },
  now: Date,
): CertificateWork => {
  const { failure } = end;
  const attempts = failedAgain(current, end, now);
  const isFinal = failure.reason !== 'rejected_name' || !isAtSecond(current);
  const reason = isFinal ? failure.reason : 'challenge';
  const next = nextAttempt(attempts, { reason, retryAt: undefined }, now);
  const problem = current.terms.problemOf({ failure, issuers });
  const failed = { attempts, problem, end };
  if (current.terms.isOurs)
    return triedAgainAt(current, failed, { at: ownPause(next, end, now), now });
  switch (next.kind) {
    case 'at':
      return triedAgainAt(current, failed, { at: next.at, now });
    case 'waits_for_dns':
      return withStep(current, { step: 'waits_for_dns', attempts, problem });
    case 'waits_for_owner': {
      const work = { step: 'waits_for_owner', attempts, problem } as const;
      // A live domain has no retry button, so renewals retry until they succeed.
      return current.certificate.kind === 'issued'
        ? triedAgainAt(current, failed, { at: new Date(now.getTime() + dayMs), now })
        : { ...current, certificate: { kind: 'wanted', work } };
    }
  }
};

const isAtSecond = (work: CertificateWork): boolean => {
  const [first, second] = work.terms.mayIssue;
  return second !== undefined && orderedAt(work) !== first;
};

/** Nobody can retry the platform's names, so their longest pause is shorter. */
const longestOwnPauseMs = 100 * minuteMs;

/** Continuing an order costs nothing, so it is retried each minute. */
const ownPause = (next: NextAttempt, end: FailedEnd, now: Date): Date => {
  const longest = now.getTime() + (isOver(end) ? longestOwnPauseMs : minuteMs);
  return new Date(Math.min(next.kind === 'at' ? next.at.getTime() : longest, longest));
};

interface Again {
  readonly attempts: Attempts;
  readonly problem: DnsProblem;
  readonly end: FailedEnd;
}

const triedAgainAt = (
  current: CertificateWork,
  { attempts, problem, end }: Again,
  { at, now }: { readonly at: Date; readonly now: Date },
): CertificateWork => {
  const last = now.getTime() + longestWait(current.certificate, now);
  const due = new Date(Math.min(at.getTime(), last));
  const order = isOver(end) ? undefined : orderOf(current);
  const again = { at: due, attempts, problem };
  const step = order ? { ...order, ...again } : ({ step: 'planned', ...again } as const);
  return postponed(withStep(current, step), due);
};

const failedAgain = (current: CertificateWork, end: FailedEnd, now: Date): Attempts => {
  const { reason, retryAt } = end.failure;
  const order = orderOf(current);
  const tried = current.certificate.work.attempts ?? freshAttempts(now);
  const by = orderedAt(current);
  const isAway = keepsOrder(reason);
  const placed = end.kind === 'failed' ? order?.since : undefined;
  const turn = turnAfter(tried.turns[by], { isAway, retryAt, placed }, now);
  return {
    ...tried,
    lastAt: now,
    failed: tried.failed + 1,
    isManual: tried.isManual && isAway,
    retryAt: retryAt ? latest(retryAt, tried.retryAt) : tried.retryAt,
    turns: { ...tried.turns, [by]: turn },
    lastBy: by,
    unproven: unprovenAfter(tried.unproven, reason, order?.method),
  };
};

const unprovenAfter = (
  before: Attempts['unproven'],
  reason: AuthorityFailure['reason'],
  method: Attempts['unproven'],
): Attempts['unproven'] => {
  if (keepsOrder(reason)) return before;
  return reason === 'challenge' || reason === 'dns' ? method : undefined;
};
