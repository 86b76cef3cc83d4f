import {
  latest,
  restedAt,
  type CertificateWork,
  type RenewalWork,
} from '../certificates/standing.ts';
import { withWork, type Certified } from './plan.ts';
import { nextCheck, nextLookAt, type Moment } from './check-schedule.ts';
import {
  becomeVerified,
  removeDomain,
  unchanged,
  type CustomDomain,
  type DomainDecision,
} from './custom-domain.ts';
import { isBlocking } from '../dns/problem.ts';
import type { DnsReport } from '../dns/report.ts';
import { checked, isOvertaken } from '../dns/standing.ts';

const hour = 60 * 60_000;

/**
 * Decides on any check. Verification is never revoked, because DNS fails briefly and a live site must stay up. A check
 * that is older than the last one, or that ends after the removal, changes nothing.
 */
export const recordCheck = (
  domain: CustomDomain,
  report: DnsReport,
  moment: Moment,
): DomainDecision => {
  const { now, jitter } = moment;
  if (domain.state === 'removed' || isOvertaken(domain.dns, report, now)) return unchanged(domain);
  if (domain.state !== 'added') return watch(domain, report, moment);
  if (report.verifiable) {
    const dns = checked(domain.dns, report, nextLookAt(now, now, jitter));
    return becomeVerified({ ...domain, dns }, now);
  }
  const next = nextCheck(domain.dns.lastVerifyAskedAt ?? domain.addedAt, now, jitter);
  const nextCheckAt = next.kind === 'check' ? next.at : now;
  const state = { ...domain, dns: checked(domain.dns, report, nextCheckAt) };
  return next.kind === 'expired' ? removeDomain(state, 'expired', now) : { state, events: [] };
};

/** Delays a certificate while the DNS is wrong, because an order would only cost another failure. */
const watch = (domain: Certified, report: DnsReport, { now, jitter }: Moment): DomainDecision => {
  const work = heldBack(domain.certificate.work, report, now);
  const after = work ? withWork(domain, work) : domain;
  const since = domain.state === 'live' ? domain.addedAt : domain.verifiedAt;
  const planned = nextLookAt(latest(since, domain.dns.lastVerifyAskedAt), now, jitter);
  const soon = new Date(now.getTime() + hour);
  const isAwaited = after.certificate.work.step === 'waits_for_dns';
  const dns = checked(domain.dns, report, isAwaited && soon < planned ? soon : planned);
  return { state: { ...after, dns }, events: [] };
};

/** @returns undefined when the report does not matter to it */
const heldBack = (work: CertificateWork, report: DnsReport, now: Date): RenewalWork | undefined => {
  const { step, attempts, problem } = work;
  if (report.verifiable) {
    if (step !== 'waits_for_dns') return undefined;
    return { step: 'planned', at: latest(now, restedAt(work)), attempts, problem };
  }
  const blocking = report.problems.find(isBlocking);
  if (step !== 'planned' || work.at > now || !blocking) return undefined;
  return { step: 'waits_for_dns', attempts, problem: blocking };
};
