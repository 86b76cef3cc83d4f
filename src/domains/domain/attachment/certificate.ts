import { problemOf, type Refusal } from './authority-problem.ts';
import { failedAgain, methodOf, triedAgain } from './attempt-count.ts';
import { nextAttempt, type Attempts, type NextAttempt } from '../certificates/attempts.ts';
import { turnAt } from '../certificates/authorities.ts';
import { choiceOf, isCertified, orderedAt, withWork, type Certified } from './plan.ts';
import {
  isOrdered,
  isRenewal,
  keepsOrder,
  longestWait,
  planned,
  type IssuedCertificate,
  type RenewalWork,
  type WantedCertificate,
} from '../certificates/standing.ts';
import type { Validity } from '../certificates/certificate.ts';
import { about } from './attachment.ts';
import { goLive, unchanged, type CustomDomain, type DomainDecision } from './custom-domain.ts';
import type { DnsProblem } from '../dns/problem.ts';
import { readiness } from './readiness.ts';
import { nextRenewal, pauseBetweenQuestions } from '../certificates/renewal.ts';

export interface Fence {
  readonly attachmentId: string;
  readonly generation: number;
}

/** `destroy`: it came too late; the certificate and its key must not be stored. */
export interface FencedDecision extends DomainDecision {
  readonly verdict: 'taken' | 'destroy';
}

const day = 24 * 60 * 60_000;

export const fenceOf = ({ id, generation }: CustomDomain): Fence => ({
  attachmentId: id,
  generation,
});

/** Starts a new order and with it the next generation. Of several workers who start one, one succeeds. */
export const orderStarted = (
  domain: CustomDomain,
  { authority = '', ...fence }: Fence & { readonly authority?: string },
  now: Date,
): FencedDecision => {
  if (!holds(domain, fence) || isOrdered(domain)) return destroy(domain);
  const generation = domain.generation + 1;
  const attempts = triedAgain(domain.certificate.work, now);
  const at = turnAt({ ...choiceOf(domain), ordered: authority, attempts }, now);
  const method = methodOf(domain, authority);
  const order = { authority, method, since: now, at, attempts, problem: undefined };
  const work = { step: 'ordered', ...order } as const;
  const ordered = withWork(domain, work);
  const event = { type: 'certificate_ordered', ...about(domain, now), generation } as const;
  return taken({ ...ordered, generation }, [event]);
};

/** Takes a certificate: the domain goes live, is ready to, or continues with the new one. */
export const certificateIssued = (
  domain: CustomDomain,
  { notBefore, notAfter, ...fence }: Fence & Validity,
  now: Date,
): FencedDecision => {
  if (!holds(domain, fence)) return destroy(domain);
  if (!isOrdered(domain)) return isKnown(domain, notAfter) ? taken(domain) : destroy(domain);
  const validity = { notBefore, notAfter };
  const certificate: IssuedCertificate = {
    ...{ kind: 'issued', ...validity },
    work: planned(nextRenewal({ ...validity, host: domain.host }, now)),
    // Not at once: an authority that always wants the next one now would be asked without end.
    askRenewalAt: new Date(now.getTime() + pauseBetweenQuestions(validity, now)),
    ...{ hasWindow: false, issuedBy: orderedAt(domain) },
  };
  const details = { ...about(domain, now), notAfter: notAfter.toISOString() };
  if (isRenewal(domain))
    return taken(withIssued(domain, certificate), [{ type: 'certificate_renewed', ...details }]);
  const { state, events } = servedWith(domain, certificate, now);
  return taken(state, [{ type: 'certificate_issued', ...details }, ...events]);
};

const withIssued = (domain: Certified, certificate: IssuedCertificate): CustomDomain =>
  domain.state === 'verified' ? domain : { ...domain, certificate };

/** A first certificate. One whose traffic may lead elsewhere is ready from now on. */
const servedWith = (
  domain: Certified,
  certificate: IssuedCertificate,
  now: Date,
): DomainDecision => {
  if (domain.state === 'verified') return goLive(domain, certificate, now);
  const state = withIssued(domain, certificate);
  return { state, events: readiness(domain, state, now) };
};

/** Records a failed attempt, before or after the order was created. A live site stays live. */
export const certificateFailed = (
  domain: CustomDomain,
  { failure, issuers, isPlaced = false, ...fence }: Fence & Refusal,
  now: Date,
): FencedDecision => {
  if (!holds(domain, fence) || hasSucceeded(domain)) return destroy(domain);
  const attempts = failedAgain(domain, { ...failure, isPlaced }, now);
  const problem = problemOf({ failure, issuers }, domain);
  const isKept = isOrdered(domain) && keepsOrder(failure.reason);
  // What another authority refuses, the preferred one may issue.
  const isFinal = failure.reason !== 'rejected_name' || !isAtSecond(domain);
  const reason = isFinal ? failure.reason : 'challenge';
  const next = nextAttempt(attempts, { reason, retryAt: undefined }, now);
  const details = { problem: problem.code, attempt: attempts.failed };
  return taken(afterFailure(domain, { attempts, problem, isKept, next }, now), [
    { type: 'certificate_failed', ...about(domain, now), ...details, isRenewal: isRenewal(domain) },
  ]);
};

/** Its order is at another authority than the preferred one, which may issue too. */
const isAtSecond = (domain: Certified): boolean => {
  const [first, second] = choiceOf(domain).mayIssue;
  return second !== undefined && orderedAt(domain) !== '' && orderedAt(domain) !== first;
};

interface Failure {
  readonly attempts: Attempts;
  readonly problem: DnsProblem;
  readonly isKept: boolean;
  readonly next: NextAttempt;
}

/** A live domain has no retry button, so renewals retry until they succeed, the more often the less time is left. */
const afterFailure = (
  domain: Certified,
  { attempts, problem, isKept, next }: Failure,
  now: Date,
): Certified => {
  const againAt = (at: Date): Certified => {
    const last = now.getTime() + longestWait(domain.certificate, now);
    const due = new Date(Math.min(at.getTime(), last));
    const { work } = domain.certificate;
    const order = isKept && work.step === 'ordered' ? work : undefined;
    const turn = turnAt({ ...choiceOf(domain), ordered: order?.authority, attempts }, due);
    const planned = { at: turn, attempts, problem };
    return withWork(domain, order ? { ...order, ...planned } : { step: 'planned', ...planned });
  };
  switch (next.kind) {
    case 'at':
      return againAt(next.at);
    case 'waits_for_dns':
      return withWork(domain, { step: 'waits_for_dns', attempts, problem });
    case 'waits_for_owner':
      return domain.state === 'live' || domain.certificate.kind === 'issued'
        ? againAt(new Date(now.getTime() + day))
        : { ...domain, certificate: waitingForOwner(attempts, problem) };
  }
};

const waitingForOwner = (attempts: Attempts, problem: DnsProblem): WantedCertificate => ({
  kind: 'wanted',
  work: { step: 'waits_for_owner', attempts, problem },
});

/** Ends the order. @returns undefined when there is none, or the fence is of another attempt */
export const withoutOrder = (domain: CustomDomain, fence: Fence): DomainDecision | undefined => {
  if (!holds(domain, fence) || domain.certificate.work.step !== 'ordered') return undefined;
  const { at, attempts, problem } = domain.certificate.work;
  const work: RenewalWork = { step: 'planned', at, attempts, problem };
  return { state: withWork(domain, work), events: [] };
};

const holds = (domain: CustomDomain, { attachmentId, generation }: Fence): domain is Certified =>
  isCertified(domain) && domain.id === attachmentId && domain.generation === generation;

/** The same certificate arrived twice. */
const isKnown = ({ certificate }: Certified, notAfter: Date): boolean =>
  certificate.kind === 'issued' && certificate.notAfter.getTime() === notAfter.getTime();

/** Its order succeeded, so the failure of another worker on it no longer matters. */
const hasSucceeded = (domain: Certified): boolean =>
  domain.certificate.kind === 'issued' && !isOrdered(domain);

const taken = (state: CustomDomain, events: DomainDecision['events'] = []): FencedDecision => ({
  ...{ state, events },
  verdict: 'taken',
});

const destroy = (domain: CustomDomain): FencedDecision => ({
  ...unchanged(domain),
  verdict: 'destroy',
});
