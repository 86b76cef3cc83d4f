import type { CustomDomain } from './custom-domain.ts';
import { isBlocking, type DnsProblem, type DnsProblemCode } from '../dns/problem.ts';
import type { DnsReport } from '../dns/report.ts';

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

/** Whether visitors do not reach the site because of the problem. A new one does not compile until it is decided here. */
const leadsElsewhere: Readonly<Record<DnsProblemCode, boolean>> = {
  dns_not_found: true,
  cname_missing: true,
  cname_wrong_target: true,
  conflicting_a: true,
  conflicting_aaaa: true,
  apex_needs_alias: true,
  alias_wrong_address: true,
  dns_lookup_failed: true,
  dnssec_bogus: true,
  cname_loop: true,
  ownership_txt_missing: false,
  ownership_txt_mismatch: false,
  caa_forbids_issuer: false,
  delegation_missing: false,
  dns_answer_too_large: false,
  challenge_unreachable: false,
  propagation_incomplete: false,
  proxied: false,
  wildcard_dns: false,
  cname_chain: false,
  ca_rate_limited: false,
  ca_unavailable: false,
  ca_rejected_name: false,
  name_reserved: false,
  public_suffix: false,
  ip_literal: false,
  wildcard_unsupported: false,
  name_too_long: false,
};

/** Why the name leads elsewhere; undefined if it does not, or was never checked. */
export const whyAstray = (report: DnsReport | undefined): DnsProblem | undefined =>
  report?.problems.find((problem) => isBlocking(problem) && leadsElsewhere[problem.code]);

/** What is wrong even while the name may lead elsewhere; anything else where nothing is. */
export const whyNotProven = (report: DnsReport): DnsProblem | undefined => {
  const blocking = report.problems.filter(isBlocking);
  return blocking.find(({ code }) => !leadsElsewhere[code]) ?? blocking[0];
};
