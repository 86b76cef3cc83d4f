import { planned, type IssuedCertificate } from '../certificates/standing.ts';
import type { Certified } from './certificate.ts';
import { goLive, unchanged, type CustomDomain, type DomainDecision } from './custom-domain.ts';
import { readiness } from './readiness.ts';

/**
 * A name is taken over with its certificate, so that no visitor meets an error while the next one is ordered. Its key is
 * ours: no account ever sees it. An order under way, and what authorities said, stays behind with the former holder.
 */
export const takenOver = (
  claimant: Certified,
  { certificate }: CustomDomain,
  now: Date,
): DomainDecision => {
  const isThere = certificate.kind === 'issued' && certificate.notAfter > now;
  if (!isThere || claimant.certificate.kind === 'issued') return unchanged(claimant);
  const { work } = certificate;
  const kept: IssuedCertificate = {
    ...certificate,
    work: planned(work.step === 'planned' ? work.at : now),
  };
  if (claimant.state === 'verified') return goLive(claimant, kept, now);
  const state: CustomDomain = { ...claimant, certificate: kept };
  return { state, events: readiness(claimant, state, now) };
};
