import { latest } from './certificate-standing.ts';
import { unchanged, type CustomDomain, type DomainDecision } from './custom-domain.ts';
import { urgentFrom } from './renewal.ts';

/** A domain that has a certificate, or gets one. */
export type Certified = Extract<CustomDomain, { readonly state: 'verified' | 'live' }>;

export const isCertified = (domain: CustomDomain): domain is Certified =>
  domain.state === 'verified' || domain.state === 'live';

/** Whether it is time for an attempt, or for a look at the order that is under way. */
export const isAttemptDue = (domain: CustomDomain, now: Date): boolean => {
  const { nextAttemptAt } = domain.certificate;
  return isCertified(domain) && nextAttemptAt !== undefined && nextAttemptAt <= now;
};

/** Work on the certificate goes on later: the authority is not ready, or a budget is used up. */
export const postponeAttempt = (domain: CustomDomain, until: Date): DomainDecision => {
  if (!isCertified(domain) || !domain.certificate.nextAttemptAt) return unchanged(domain);
  const nextAttemptAt = latest(until, domain.certificate.retryAt);
  return {
    state: { ...domain, certificate: { ...domain.certificate, nextAttemptAt } },
    events: [],
  };
};

/** Plans the next certificate, unless it is worked on already. Never later than is safe. */
export const planRenewal = (domain: CustomDomain, at: Date): DomainDecision => {
  const { attempts, notBefore, notAfter } = domain.certificate;
  if (domain.state !== 'live' || attempts || !notBefore || !notAfter) return unchanged(domain);
  const last = urgentFrom({ notBefore, notAfter });
  const nextAttemptAt = at < last ? at : last;
  return {
    state: { ...domain, certificate: { ...domain.certificate, nextAttemptAt } },
    events: [],
  };
};
