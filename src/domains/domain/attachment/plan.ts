import { latest, restedAt, workOn, type RenewalWork } from '../certificates/standing.ts';
import {
  unchanged,
  type CustomDomain,
  type DomainDecision,
  type DomainIn,
} from './custom-domain.ts';
import { urgentFrom } from '../certificates/renewal.ts';

/** A domain that has a certificate, or gets one. It holds the name: no other account can. */
export type Certified = DomainIn<'verified'> | DomainIn<'live'>;

export const isCertified = (domain: CustomDomain): domain is Certified =>
  domain.state === 'verified' || domain.state === 'live';

export const withWork = (domain: Certified, work: RenewalWork): Certified =>
  domain.state === 'live'
    ? { ...domain, certificate: { ...domain.certificate, work } }
    : { ...domain, certificate: { ...domain.certificate, work } };

/** Earliest time of an attempt that waits for the DNS: after the next check, if that finds no problem. */
export const earliestAttempt = (domain: CustomDomain): Date | undefined => {
  const work = workOn(domain);
  const { nextCheckAt } = domain.dns;
  return work?.step === 'waits_for_dns' && nextCheckAt
    ? latest(nextCheckAt, restedAt(work))
    : undefined;
};

/** Postpones work on the certificate: the authority is not ready, or a budget is used up. */
export const postponeAttempt = (domain: CustomDomain, until: Date): DomainDecision => {
  if (!isCertified(domain)) return unchanged(domain);
  const { work } = domain.certificate;
  if (work.step !== 'planned' && work.step !== 'ordered') return unchanged(domain);
  const at = latest(until, work.attempts?.retryAt);
  return { state: withWork(domain, { ...work, at }), events: [] };
};

/** A cap, so that a clock that was set back cannot block the question for ever. */
const longestRestMs = 24 * 60 * 60_000;

/** Whether the authority may be asked when it wants the certificate renewed (RFC 9773, section 4.3). */
export const mayAskRenewal = ({ certificate }: CustomDomain, now: Date): boolean => {
  const at = certificate.kind === 'issued' ? certificate.askRenewalAt : undefined;
  const rest = (at?.getTime() ?? 0) - now.getTime();
  return rest <= 0 || rest > longestRestMs;
};

/**
 * Plans the renewal, unless one is under way. Never later than is safe.
 * @param askRenewalAt when the authority wants to be asked again
 */
export const planRenewal = (domain: CustomDomain, at: Date, askRenewalAt: Date): DomainDecision => {
  if (domain.state !== 'live' || domain.certificate.work.attempts) return unchanged(domain);
  const { certificate } = domain;
  const last = urgentFrom(certificate);
  // A renewal that waits for the DNS is due already.
  const work: RenewalWork =
    certificate.work.step === 'planned'
      ? { ...certificate.work, at: at < last ? at : last }
      : certificate.work;
  return { state: { ...domain, certificate: { ...certificate, work, askRenewalAt } }, events: [] };
};
