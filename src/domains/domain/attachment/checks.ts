import {
  latest,
  orderAtOnce,
  restedAt,
  type CertificateStanding,
} from '../certificates/standing.ts';
import { nextCheck } from './check-schedule.ts';
import {
  about,
  coreOf,
  unchanged,
  type CustomDomain,
  type DnsStanding,
  type DomainDecision,
  type Moment,
} from './custom-domain.ts';
import { isBlocking } from '../dns/problem.ts';
import type { DnsReport } from '../dns/report.ts';
import { removeDomain } from './removal.ts';

const hour = 60 * 60_000;
const day = 24 * hour;

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
  if (report.verifiable) return verified(domain, report, moment);
  const next = nextCheck(domain.dns.lastVerifyAskedAt ?? domain.addedAt, now, jitter);
  const nextCheckAt = next.kind === 'check' ? next.at : undefined;
  const state = { ...domain, dns: { ...checked(domain.dns, report), nextCheckAt } };
  return next.kind === 'expired' ? removeDomain(state, 'expired', now) : { state, events: [] };
};

const verified = (
  domain: CustomDomain,
  report: DnsReport,
  { now, jitter }: Moment,
): DomainDecision => ({
  state: {
    ...coreOf(domain),
    state: 'verified',
    verifiedAt: now,
    dns: { ...checked(domain.dns, report), nextCheckAt: nextLook(now, now, jitter) },
    certificate: orderAtOnce(now),
  },
  events: [{ type: 'domain_verified', ...about(domain, now), host: domain.host }],
});

/** Delays a certificate while the DNS is wrong, because an order would only cost another failure. */
const watch = (
  domain: Extract<CustomDomain, { state: 'verified' | 'live' }>,
  report: DnsReport,
  { now, jitter }: Moment,
): DomainDecision => {
  const certificate = heldBack(domain.certificate, report, now);
  const since = domain.state === 'live' ? domain.addedAt : domain.verifiedAt;
  const planned = nextLook(latest(since, domain.dns.lastVerifyAskedAt), now, jitter);
  const soon = new Date(now.getTime() + hour);
  const nextCheckAt = certificate.waitsForDns && soon < planned ? soon : planned;
  const dns = { ...checked(domain.dns, report), nextCheckAt };
  return { state: { ...domain, dns, certificate }, events: [] };
};

const heldBack = (
  certificate: CertificateStanding,
  report: DnsReport,
  now: Date,
): CertificateStanding => {
  const { nextAttemptAt, isOrdered, status, waitsForDns } = certificate;
  if (waitsForDns && report.verifiable) {
    return {
      ...certificate,
      waitsForDns: false,
      nextAttemptAt: latest(now, restedAt(certificate)),
    };
  }
  const isDue = nextAttemptAt !== undefined && nextAttemptAt <= now && !isOrdered;
  if (report.verifiable || !isDue) return certificate;
  return {
    ...certificate,
    status: status === 'issued' ? 'issued' : 'failed',
    waitsForDns: true,
    nextAttemptAt: undefined,
    problem: report.problems.find(isBlocking),
  };
};

/** Once it is verified the checks go on: daily in the end. */
const nextLook = (since: Date, now: Date, jitter: number): Date => {
  const next = nextCheck(since, now, jitter);
  return next.kind === 'check' ? next.at : new Date(now.getTime() + day);
};

const checked = (dns: DnsStanding, report: DnsReport): DnsStanding => ({
  ...dns,
  report,
  lastCheckedAt: report.checkedAt,
});

const isOvertaken = (
  { lastCheckedAt }: DnsStanding,
  { checkedAt }: DnsReport,
  now: Date,
): boolean => lastCheckedAt !== undefined && checkedAt < lastCheckedAt && lastCheckedAt <= now;
