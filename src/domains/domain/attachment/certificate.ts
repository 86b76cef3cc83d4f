import { problemOf, type Refusal } from './authority-problem.ts';
import {
  freshAttempts,
  nextAttempt,
  type Attempts,
  type NextAttempt,
} from '../certificates/attempts.ts';
import type { AuthorityFailure } from '../certificates/order.ts';
import { isCertified, withWork, type Certified } from './plan.ts';
import {
  isOrdered,
  keepsOrder,
  latest,
  planned,
  type CertificateWork,
  type IssuedCertificate,
  type RenewalWork,
  type WantedCertificate,
} from '../certificates/standing.ts';
import type { Validity } from '../certificates/certificate.ts';
import { about } from './attachment.ts';
import { goLive, unchanged, type CustomDomain, type DomainDecision } from './custom-domain.ts';
import type { DnsProblem } from '../dns/problem.ts';
import { nextRenewal } from '../certificates/renewal.ts';

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
export const orderStarted = (domain: CustomDomain, fence: Fence, now: Date): FencedDecision => {
  if (!holds(domain, fence) || isOrdered(domain)) return destroy(domain);
  const generation = domain.generation + 1;
  const attempts = triedAgain(domain.certificate.work, now);
  const at = latest(now, attempts.retryAt);
  const ordered = withWork(domain, { step: 'ordered', at, attempts, problem: undefined });
  const event = { type: 'certificate_ordered', ...about(domain, now), generation } as const;
  return taken({ ...ordered, generation }, [event]);
};

/** Takes a certificate: the domain goes live, or continues with the new one. */
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
    work: planned(nextRenewal(validity, now)),
    askRenewalAt: undefined,
  };
  const details = { ...about(domain, now), notAfter: notAfter.toISOString() };
  if (domain.state === 'live') {
    return taken({ ...domain, certificate }, [{ type: 'certificate_renewed', ...details }]);
  }
  const { state, events } = goLive(domain, certificate, now);
  return taken(state, [{ type: 'certificate_issued', ...details }, ...events]);
};

/** Records a failed attempt, before or after the order was created. A live site stays live. */
export const certificateFailed = (
  domain: CustomDomain,
  { failure, issuers, ...fence }: Fence & Refusal,
  now: Date,
): FencedDecision => {
  if (!holds(domain, fence) || hasSucceeded(domain)) return destroy(domain);
  const attempts = failedAgain(domain, failure, now);
  const problem = problemOf({ failure, issuers }, domain);
  const isKept = isOrdered(domain) && keepsOrder(failure.reason);
  const next = nextAttempt(attempts, failure, now);
  const details = { problem: problem.code, attempt: attempts.failed };
  const isRenewal = domain.state === 'live';
  return taken(afterFailure(domain, { attempts, problem, isKept, next }, now), [
    { type: 'certificate_failed', ...about(domain, now), ...details, isRenewal },
  ]);
};

interface Failure {
  readonly attempts: Attempts;
  readonly problem: DnsProblem;
  readonly isKept: boolean;
  readonly next: NextAttempt;
}

/** A live domain has no retry button, so renewals retry until they succeed. */
const afterFailure = (
  domain: Certified,
  { attempts, problem, isKept, next }: Failure,
  now: Date,
): Certified => {
  const againAt = (at: Date): Certified =>
    withWork(domain, {
      step: isKept ? 'ordered' : 'planned',
      ...{ at: latest(at, attempts.retryAt), attempts, problem },
    });
  switch (next.kind) {
    case 'at':
      return againAt(next.at);
    case 'waits_for_dns':
      return withWork(domain, { step: 'waits_for_dns', attempts, problem });
    case 'waits_for_owner':
      return domain.state === 'live'
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
  const work: RenewalWork = { ...domain.certificate.work, step: 'planned' };
  return { state: withWork(domain, work), events: [] };
};

const holds = (domain: CustomDomain, { attachmentId, generation }: Fence): domain is Certified =>
  isCertified(domain) && domain.id === attachmentId && domain.generation === generation;

/** The same certificate arrived twice. */
const isKnown = ({ certificate }: Certified, notAfter: Date): boolean =>
  certificate.kind === 'issued' && certificate.notAfter.getTime() === notAfter.getTime();

/** Its order succeeded, so the failure of another worker on it no longer matters. */
const hasSucceeded = (domain: Certified): boolean => domain.state === 'live' && !isOrdered(domain);

const triedAgain = ({ attempts }: CertificateWork, now: Date): Attempts => ({
  ...(attempts ?? freshAttempts(now)),
  lastAt: now,
});

const failedAgain = (
  domain: Certified,
  { reason, retryAt }: AuthorityFailure,
  now: Date,
): Attempts => {
  const tried = triedAgain(domain.certificate.work, now);
  // A retry that the owner did not request counts as automatic.
  const isManual = tried.isManual && isOrdered(domain) && keepsOrder(reason);
  const failed = tried.failed + 1;
  return {
    ...tried,
    failed,
    isManual,
    retryAt: retryAt ? latest(retryAt, tried.retryAt) : tried.retryAt,
  };
};

const taken = (state: CustomDomain, events: DomainDecision['events'] = []): FencedDecision => ({
  ...{ state, events },
  verdict: 'taken',
});

const destroy = (domain: CustomDomain): FencedDecision => ({
  ...unchanged(domain),
  verdict: 'destroy',
});
