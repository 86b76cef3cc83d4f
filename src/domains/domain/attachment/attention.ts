import { workOn } from '../certificates/certificate-status.ts';
import { type DnsProblemCode, isBlocking } from '../dns/problem.ts';
import type { DnsReport } from '../dns/report.ts';
import { type CustomDomain, customDomainStates } from './custom-domain.ts';
import { isDelegated, isReady } from './serving.ts';

/** How much a domain needs its owner, the most urgent first. Stored with it, because lists begin with what needs the owner. */
export const attentions = ['broken', 'wanted', 'none', 'gone'] as const;
export type Attention = (typeof attentions)[number];

export const domainFilters = ['attached', 'owner', ...customDomainStates] as const;
export type DomainFilter = (typeof domainFilters)[number];

/** `broken`: it is live and something will end that; `wanted`: it goes on once its owner has acted. */
export const attentionOf = (domain: CustomDomain): Attention => {
  switch (domain.state) {
    case 'added':
      return awaitsOwner(domain) ? 'wanted' : 'none';
    case 'verified':
      return waitsForOwner(domain) ? 'wanted' : 'none';
    case 'live': {
      const { report } = domain.dns;
      const problem = report?.problems.find(isBlocking) ?? domain.certificate.work.problem;
      return problem?.actor === 'customer' ? 'broken' : 'none';
    }
    case 'removed':
      return 'gone';
  }
};

const awaitsOwner = (domain: CustomDomain): boolean => {
  if (workOn(domain) && isDelegated(domain)) return isReady(domain) || waitsForOwner(domain);
  const { report } = domain.dns;
  return !report || (report.problems.some(isBlocking) && !isSpreading(report));
};

const waitsForOwner = (domain: CustomDomain): boolean => {
  const work = workOn(domain);
  return work?.step === 'waits_for_owner' || work?.problem?.actor === 'customer';
};

const unreadable: ReadonlySet<DnsProblemCode> = new Set(['dns_lookup_failed', 'dnssec_bogus']);

export const isSpreading = ({ problems, resolvers }: DnsReport): boolean => {
  const problem = problems.find(isBlocking);
  return (
    problem !== undefined && !unreadable.has(problem.code) && resolvers.some(({ agrees }) => agrees)
  );
};
