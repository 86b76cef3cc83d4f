import type { CustomDomain } from './custom-domain.ts';
import { isBlocking, type DnsProblem } from '../dns/problem.ts';

/** Whether a live domain works for visitors, and will keep working. */
export type DomainHealth =
  | { readonly kind: 'healthy' }
  /** It is served, but something will end that. */
  | { readonly kind: 'at_risk'; readonly problem: DnsProblem }
  | { readonly kind: 'certificate_expired'; readonly problem: DnsProblem | undefined };

/** @returns undefined for a domain that is not live */
export const healthOf = (domain: CustomDomain, now: Date): DomainHealth | undefined => {
  if (domain.state !== 'live') return undefined;
  const { work, notAfter } = domain.certificate;
  const problem = domain.dns.report?.problems.find(isBlocking) ?? work.problem;
  if (notAfter <= now) return { kind: 'certificate_expired', problem };
  return problem ? { kind: 'at_risk', problem } : { kind: 'healthy' };
};
