import {
  type Certified,
  domainChoice,
  isCertified,
  postponeAttempt,
  withWork,
} from './domain-certificate.ts';
import {
  type Moment,
  nextCheck,
  nextLookAt,
  nextLookAtAstray,
  nextLookAtLive,
  becomeVerified,
  type CustomDomain,
  type DomainDecision,
  type DomainIn,
  refuseMove,
  removeDomain,
  unchanged,
} from './custom-domain.ts';
import {
  backInService,
  isDeleted,
  whyAstray,
  whyNotProven,
  isPrepared,
  issuersFor,
  readiness,
} from './serving.ts';
import { resumed, turnAt } from '../certificates/authorities.ts';
import {
  latest,
  longestWait,
  plannedByOwner,
  type RenewalWork,
} from '../certificates/certificate-status.ts';
import { checked, isOvertaken } from '../dns/judgement.ts';
import { isBlocking } from '../dns/problem.ts';
import type { DnsReport } from '../dns/report.ts';
import { type DomainsErrorCode, refusal } from '../domains-error.ts';
import { hourMs } from '../../../kernel/durations.ts';
import { inWords } from '../../../kernel/text.ts';

/** Never revokes a verification, because DNS fails briefly and a live site must stay up. Ignores overtaken checks. */
export const recordCheck = (
  domain: CustomDomain,
  report: DnsReport,
  moment: Moment,
): DomainDecision => {
  if (domain.state === 'removed' || isDeleted(domain)) return unchanged(domain);
  if (isOvertaken(domain.dns, report, moment.now)) return unchanged(domain);
  return decideOn(backInService(domain, report), report, moment);
};

const decideOn = (
  domain: Exclude<CustomDomain, { readonly state: 'removed' }>,
  report: DnsReport,
  moment: Moment,
): DomainDecision => {
  const { now, jitter } = moment;
  if (domain.state !== 'added') return watch(domain, report, moment);
  if (report.verifiable) {
    const dns = checked(domain.dns, report, nextLookAt(now, now, jitter));
    return becomeVerified({ ...domain, dns }, now);
  }
  return awaitTraffic(domain, report, moment);
};

/** Checked hourly with a certificate, or work on one. Others expire 30 days after Add, Verify or their preparation. */
const awaitTraffic = (
  domain: DomainIn<'added'>,
  report: DnsReport,
  { now, jitter }: Moment,
): DomainDecision => {
  const after = isCertified(domain) ? proven(domain, report, now) : domain;
  const seen = { ...after, dns: checked(domain.dns, report, now) };
  const preparedUntil = isPrepared(seen, now) ? now : domain.dns.preparedUntil;
  const next = nextCheck(latest(askedAt(domain), preparedUntil), now, jitter);
  if (next.kind === 'expired') return removeDomain(seen, 'expired', now);
  const nextCheckAt = isCertified(after) ? hourly(after, { now, jitter }) : next.at;
  const state = { ...seen, dns: { ...seen.dns, nextCheckAt, preparedUntil } };
  return { state, events: readiness(domain, state, now) };
};

const askedAt = ({ dns, addedAt }: CustomDomain): Date => dns.lastVerifyAskedAt ?? addedAt;

type Prepared = Extract<Certified, { readonly state: 'added' }>;

const hourly = (domain: Certified, { now, jitter }: Moment): Date => {
  const { certificate } = domain;
  const ends = certificate.kind === 'issued' && certificate.notAfter > now;
  const soon = Math.min(now.getTime() + hourMs, ends ? certificate.notAfter.getTime() : Infinity);
  return new Date(Math.min(nextLookAt(askedAt(domain), now, jitter).getTime(), soon));
};

export const checkedHourly = (domain: Certified, moment: Moment): CustomDomain => ({
  ...domain,
  dns: { ...domain.dns, nextCheckAt: hourly(domain, moment) },
});

/** Without the delegation the name is not proven, so no certificate is ordered or renewed. */
const proven = (domain: Prepared, report: DnsReport, now: Date): Certified => {
  const current = withoutEnded(domain, now);
  const work = heldBack(current, report, now);
  return work ? withWork(current, work) : current;
};

const withoutEnded = (domain: Prepared, now: Date): Prepared => {
  const { certificate } = domain;
  const hasEnded = certificate.kind === 'issued' && certificate.notAfter <= now;
  return hasEnded ? { ...domain, certificate: { kind: 'wanted', work: certificate.work } } : domain;
};

/** Delays orders while the DNS is wrong, because they would fail. */
const watch = (domain: Certified, report: DnsReport, moment: Moment): DomainDecision => {
  const { now } = moment;
  const work = heldBack(domain, report, now);
  const after = work ? withWork(domain, work) : domain;
  const isAstray = domain.state === 'live' && whyAstray(report) !== undefined;
  const isAwaited = isAstray || after.certificate.work.step === 'waits_for_dns';
  const soon = new Date(now.getTime() + Math.min(hourMs, longestWait(domain.certificate, now)));
  const times = [planned(domain, moment), ...(isAwaited ? [soon] : [])];
  if (isAstray) times.push(nextLookAtAstray(astraySeenAt(domain), now));
  const dns = checked(domain.dns, report, new Date(Math.min(...times.map(Number))));
  return { state: { ...after, dns }, events: [] };
};

const planned = (domain: Certified, moment: Moment): Date => {
  const since = domain.state === 'verified' ? domain.verifiedAt : domain.addedAt;
  const asked = latest(since, domain.dns.lastVerifyAskedAt);
  if (domain.state === 'live') return nextLookAtLive(asked, moment);
  return nextLookAt(asked, moment.now, moment.jitter);
};

const astraySeenAt = ({ dns }: Certified): Date | undefined =>
  whyAstray(dns.report) ? dns.lastCheckedAt : undefined;

const heldBack = (domain: Certified, report: DnsReport, now: Date): RenewalWork | undefined => {
  const { certificate } = domain;
  const { work } = certificate;
  const { step, attempts } = work;
  const mayIssue = issuersFor(domain, report);
  if (domain.state === 'added' ? mayIssue.length > 0 : report.verifiable) {
    return step === 'waits_for_dns' ? resumed(certificate, mayIssue, now) : undefined;
  }
  const blocking =
    domain.state === 'added' ? whyNotProven(report) : report.problems.find(isBlocking);
  if (step !== 'planned' || work.at > now || !blocking) return undefined;
  return { step: 'waits_for_dns', attempts, problem: blocking };
};

const pauseBetweenVerifiesMs = 10_000;
const pauseBeforeReverifyMs = 30 * 60_000;

export const askToVerify = (domain: CustomDomain, now: Date): DomainDecision => {
  if (domain.state === 'removed') return refuseMove(domain, 'verified');
  const remaining = verifyAllowedAt(domain, now).getTime() - now.getTime();
  if (remaining > 0) throw tooEarly('verify_too_early', 'DNS was just checked', remaining);
  const asked = { ...domain, dns: { ...domain.dns, lastVerifyAskedAt: now } };
  return { state: triedAgain(asked, now), events: [] };
};

const triedAgain = (domain: CustomDomain, now: Date): CustomDomain => {
  if (domain.state !== 'added' || domain.certificate.kind !== 'wanted') return domain;
  const { work } = domain.certificate;
  if (work.step !== 'waits_for_owner') return domain;
  const again = {
    ...domain,
    certificate: { kind: 'wanted', work: plannedByOwner(work, now) },
  } as const;
  return postponeAttempt(again, now);
};

export const verifyAllowedAt = ({ dns }: Pick<CustomDomain, 'dns'>, now: Date): Date => {
  const { lastVerifyAskedAt: last } = dns;
  // A time in the future means that the clock was set back.
  return last && last <= now ? new Date(last.getTime() + pauseBetweenVerifiesMs) : now;
};

export const verify = (domain: CustomDomain, report: DnsReport, moment: Moment): DomainDecision =>
  domain.state === 'removed' ? refuseMove(domain, 'verified') : recordCheck(domain, report, moment);

export const reverify = (domain: CustomDomain, now: Date): DomainDecision => {
  if (domain.state !== 'verified') return refuseMove(domain, 'verified');
  const remaining = reverifyAllowedAt(domain, now).getTime() - now.getTime();
  if (remaining > 0) {
    throw tooEarly('reverify_too_early', 'The last attempt was a short while ago', remaining);
  }
  const { certificate } = domain;
  const work = plannedByOwner(certificate.work, now);
  return { state: { ...domain, certificate: { ...certificate, work } }, events: [] };
};

export const reverifyAllowedAt = (domain: DomainIn<'verified'>, now: Date): Date => {
  const { certificate, verifiedAt } = domain;
  const { attempts } = certificate.work;
  const lastAt = (attempts?.lastAt ?? verifiedAt).getTime();
  // The pause ends at most one pause from now, even if the clock was set back.
  const rested = new Date(Math.min(lastAt, now.getTime()) + pauseBeforeReverifyMs);
  return turnAt(domainChoice(domain), rested);
};

const tooEarly = (code: DomainsErrorCode, what: string, remaining: number) =>
  refusal(code, `${what}. Try again in ${inWords(remaining)}.`);
