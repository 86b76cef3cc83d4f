import { latest, restedAt } from './standing.ts';
import { unchanged, type CustomDomain, type DomainDecision } from '../attachment/custom-domain.ts';
import { urgentFrom } from './renewal.ts';

/** A domain that has a certificate, or gets one. */
export type Certified = Extract<CustomDomain, { readonly state: 'verified' | 'live' }>;

export const isCertified = (domain: CustomDomain): domain is Certified =>
  domain.state === 'verified' || domain.state === 'live';

/** Earliest time of an attempt that waits for the DNS: after the next check, if that finds no problem. */
export const earliestAttempt = ({ dns, certificate }: CustomDomain): Date | undefined =>
  certificate.waitsForDns && dns.nextCheckAt
    ? latest(dns.nextCheckAt, restedAt(certificate))
    : undefined;

/** Postpones work on the certificate: the authority is not ready, or a budget is used up. */
export const postponeAttempt = (domain: CustomDomain, until: Date): DomainDecision => {
  if (!isCertified(domain) || !domain.certificate.nextAttemptAt) return unchanged(domain);
  const nextAttemptAt = latest(until, domain.certificate.retryAt);
  return {
    state: { ...domain, certificate: { ...domain.certificate, nextAttemptAt } },
    events: [],
  };
};

/** A cap, so that a clock that was set back cannot block the question for ever. */
const longestRestMs = 24 * 60 * 60_000;

/** Whether the authority may be asked when it wants the certificate renewed (RFC 9773, section 4.3). */
export const mayAskRenewal = ({ certificate }: CustomDomain, now: Date): boolean => {
  const rest = (certificate.askRenewalAt?.getTime() ?? 0) - now.getTime();
  return rest <= 0 || rest > longestRestMs;
};

/**
 * Plans the renewal, unless one is under way. Never later than is safe.
 * @param askAgainAt when the authority wants to be asked again
 */
export const planRenewal = (domain: CustomDomain, at: Date, askAgainAt: Date): DomainDecision => {
  const { attempts, notBefore, notAfter } = domain.certificate;
  if (domain.state !== 'live' || attempts || !notBefore || !notAfter) return unchanged(domain);
  const last = urgentFrom({ notBefore, notAfter });
  const plan = { nextAttemptAt: at < last ? at : last, askRenewalAt: askAgainAt };
  return { state: { ...domain, certificate: { ...domain.certificate, ...plan } }, events: [] };
};
