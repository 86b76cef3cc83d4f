import { problemOf, type Refusal } from '../certificates/authority-problem.ts';
import { nextAttempt, type NextAttempt } from '../certificates/attempts.ts';
import { keepsOrder, latest, noCertificate } from '../certificates/standing.ts';
import { isCertified, type Certified } from '../certificates/plan.ts';
import type { Validity } from '../certificates/certificate.ts';
import {
  about,
  coreOf,
  unchanged,
  type CustomDomain,
  type DomainDecision,
} from './custom-domain.ts';
import { nextRenewal } from '../certificates/renewal.ts';

/** Identifies one attempt at a certificate. */
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
  if (!holds(domain, fence) || domain.certificate.isOrdered) return destroy(domain);
  const { attempts, status } = domain.certificate;
  const generation = domain.generation + 1;
  const certificate = {
    ...domain.certificate,
    status: status === 'issued' ? ('issued' as const) : ('issuing' as const),
    attempts: { failed: attempts?.failed ?? 0, firstAt: attempts?.firstAt ?? now, lastAt: now },
    nextAttemptAt: latest(now, domain.certificate.retryAt),
    problem: undefined,
    isOrdered: true,
  };
  const event = { type: 'certificate_ordered', ...about(domain, now), generation } as const;
  return taken({ ...domain, generation, certificate }, [event]);
};

/** Takes a certificate: the domain goes live, or continues with the new one. */
export const certificateIssued = (
  domain: CustomDomain,
  { notBefore, notAfter, ...fence }: Fence & Validity,
  now: Date,
): FencedDecision => {
  if (!holds(domain, fence)) return destroy(domain);
  if (!domain.certificate.isOrdered) {
    return isKnown(domain, notAfter) ? taken(domain) : destroy(domain);
  }
  const nextAttemptAt = nextRenewal({ notBefore, notAfter }, now);
  const certificate = {
    ...noCertificate,
    status: 'issued',
    notBefore,
    notAfter,
    nextAttemptAt,
  } as const;
  const details = { ...about(domain, now), notAfter: notAfter.toISOString() };
  if (domain.state === 'live') {
    return taken({ ...domain, certificate }, [{ type: 'certificate_renewed', ...details }]);
  }
  const { verifiedAt } = domain;
  return taken({ ...coreOf(domain), certificate, state: 'live', liveSince: now, verifiedAt }, [
    { type: 'certificate_issued', ...details },
    { type: 'domain_live', ...about(domain, now), host: domain.host },
  ]);
};

/** Records a failed attempt, before or after the order was created. A live site stays live. */
export const certificateFailed = (
  domain: CustomDomain,
  { failure, issuers, ...fence }: Fence & Refusal,
  now: Date,
): FencedDecision => {
  if (!holds(domain, fence) || isServed(domain)) return destroy(domain);
  const { certificate, state } = domain;
  const retryAt = failure.retryAt
    ? latest(failure.retryAt, certificate.retryAt)
    : certificate.retryAt;
  const failed = (certificate.attempts?.failed ?? 0) + 1;
  const attempts = { failed, firstAt: certificate.attempts?.firstAt ?? now, lastAt: now };
  const next = goOn(nextAttempt(attempts, failure, now), domain, now);
  const problem = problemOf({ failure, issuers }, domain);
  const details = { problem: problem.code, attempt: failed, isRenewal: state === 'live' };
  const isOrdered = certificate.isOrdered && keepsOrder(failure.reason);
  return taken(
    {
      ...domain,
      certificate: {
        ...certificate,
        status: certificate.status === 'issued' ? 'issued' : 'failed',
        attempts,
        problem,
        waitsForDns: next.kind === 'waits_for_dns',
        nextAttemptAt: next.kind === 'at' ? latest(next.at, retryAt) : undefined,
        retryAt,
        isOrdered,
        // The retry was not requested by the owner, so it counts as automatic.
        isManual: certificate.isManual && isOrdered,
      },
    },
    [{ type: 'certificate_failed', ...about(domain, now), ...details }],
  );
};

/** Clears the order mark. @returns undefined when there is no order, or the fence is of another attempt */
export const withoutOrder = (domain: CustomDomain, fence: Fence): DomainDecision | undefined =>
  holds(domain, fence) && domain.certificate.isOrdered
    ? { state: { ...domain, certificate: { ...domain.certificate, isOrdered: false } }, events: [] }
    : undefined;

const holds = (domain: CustomDomain, { attachmentId, generation }: Fence): domain is Certified =>
  isCertified(domain) && domain.id === attachmentId && domain.generation === generation;

/** The same certificate arrived twice. */
const isKnown = ({ certificate }: Certified, notAfter: Date): boolean =>
  certificate.notAfter?.getTime() === notAfter.getTime();

/** Its order succeeded, so the failure of another worker on it no longer matters. */
const isServed = ({ state, certificate }: Certified): boolean =>
  state === 'live' && !certificate.isOrdered;

/** A live domain has no retry button, so renewals retry until they succeed. */
const goOn = (next: NextAttempt, { state }: Certified, now: Date): NextAttempt =>
  state === 'live' && next.kind === 'waits_for_owner'
    ? { kind: 'at', at: new Date(now.getTime() + day) }
    : next;

const taken = (state: CustomDomain, events: DomainDecision['events'] = []): FencedDecision => ({
  state,
  events,
  verdict: 'taken',
});

const destroy = (domain: CustomDomain): FencedDecision => ({
  ...unchanged(domain),
  verdict: 'destroy',
});
