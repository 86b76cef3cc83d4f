import { turnAt, type Choice } from '../certificates/authorities.ts';
import {
  latest,
  restedAt,
  type IssuedCertificate,
  type RenewalWork,
  type WantedCertificate,
} from '../certificates/standing.ts';
import {
  unchanged,
  type CustomDomain,
  type DomainDecision,
  type DomainIn,
} from './custom-domain.ts';
import { isReady, issuersFor } from './readiness.ts';
import {
  askedForAt,
  mayAskFor,
  withWindow,
  type PlannedCertificate,
  type RenewalAnswer,
} from '../certificates/renewal-plan.ts';

/** A domain that has a certificate, or gets one. It holds the name: one domain over all accounts does. */
export type Certified =
  | (DomainIn<'added'> & { readonly certificate: WantedCertificate | IssuedCertificate })
  | DomainIn<'verified'>
  | DomainIn<'live'>;

export const isCertified = (domain: CustomDomain): domain is Certified =>
  domain.certificate.kind !== 'none';

/** When a check showed that it holds the name. */
export const provenAt = (domain: Certified): Date =>
  domain.state === 'added' ? (domain.dns.lastCheckedAt ?? domain.addedAt) : domain.verifiedAt;

export const withWork = (domain: Certified, work: RenewalWork): Certified => {
  switch (domain.state) {
    case 'added':
      return { ...domain, certificate: { ...domain.certificate, work } };
    case 'verified':
      return { ...domain, certificate: { ...domain.certificate, work } };
    case 'live':
      return { ...domain, certificate: { ...domain.certificate, work } };
  }
};

/** Name of the authority that has its order; '' without one. */
export const orderedAt = ({ certificate: { work } }: Certified): string =>
  work.step === 'ordered' ? work.authority : '';

/** What decides which authority its next attempt goes to. */
export const choiceOf = ({ host, certificate, dns, state }: Certified): Choice => ({
  mayIssue: dns.report ? issuersFor({ host, state }, dns.report) : [],
  ordered: certificate.work.step === 'ordered' ? certificate.work.authority : undefined,
  attempts: certificate.work.attempts,
  certificate,
});

/** Earliest time of an attempt that waits for the DNS: after the next check, if that finds no problem. */
export const earliestAttempt = (domain: CustomDomain): Date | undefined => {
  const { nextCheckAt } = domain.dns;
  if (!isCertified(domain) || !nextCheckAt) return undefined;
  const { certificate } = domain;
  return certificate.work.step === 'waits_for_dns'
    ? turnAt(choiceOf(domain), latest(nextCheckAt, restedAt(certificate)))
    : undefined;
};

/** Postpones work on the certificate: the authority is not ready, or a budget is used up. */
export const postponeAttempt = (domain: CustomDomain, until: Date): DomainDecision => {
  if (!isCertified(domain)) return unchanged(domain);
  const { work } = domain.certificate;
  if (work.step !== 'planned' && work.step !== 'ordered') return unchanged(domain);
  const at = turnAt(choiceOf(domain), until);
  return { state: withWork(domain, { ...work, at }), events: [] };
};

/** One whose certificate is renewed. */
type Renewed = DomainIn<'live'> | (DomainIn<'added'> & { readonly certificate: IssuedCertificate });

const isRenewed = (domain: CustomDomain): domain is Renewed =>
  domain.state === 'live' || isReady(domain);

/** See `mayAskFor`. */
export const mayAskRenewal = (domain: CustomDomain, now: Date): domain is Renewed =>
  isRenewed(domain) && mayAskFor(domain.certificate, now);

/** See `askedForAt`. */
export const renewalAskedAt = (domain: CustomDomain): Date | undefined =>
  isRenewed(domain) ? askedForAt(domain.certificate) : undefined;

export interface RenewalPlan extends DomainDecision {
  readonly verdict: PlannedCertificate['verdict'];
}

/** Plans the renewal, unless one is under way. */
export const planRenewal = (
  domain: CustomDomain,
  answer: RenewalAnswer,
  now: Date,
): RenewalPlan => {
  if (!isRenewed(domain) || domain.certificate.work.attempts)
    return { ...unchanged(domain), verdict: 'unchanged' };
  const { certificate, verdict } = withWindow(domain.certificate, answer, now);
  return { state: { ...domain, certificate }, events: [], verdict };
};
