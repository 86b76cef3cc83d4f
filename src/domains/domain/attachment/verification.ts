import type { Moment } from './check-schedule.ts';
import { turnAt } from '../certificates/authorities.ts';
import { plannedByOwner } from '../certificates/standing.ts';
import {
  refuseMove,
  type CustomDomain,
  type DomainIn,
  type DomainDecision,
} from './custom-domain.ts';
import type { DnsReport } from '../dns/report.ts';
import { recordCheck } from './checks.ts';
import { domainChoice, postponeAttempt } from './certificate.ts';
import { refusal, type DomainsErrorCode } from '../domains-error.ts';
import { inWords } from '../../../kernel/text.ts';

const pauseBetweenVerifiesMs = 10_000;
const pauseBeforeReverifyMs = 30 * 60_000;

/**
 * Runs before the DNS lookup of a Verify. Of many simultaneous requests, one passes.
 * @throws DomainError `verify_too_early`, `domain_wrong_state`
 */
export const askToVerify = (domain: CustomDomain, now: Date): DomainDecision => {
  if (domain.state === 'removed') return refuseMove(domain, 'verified');
  const remaining = verifyAllowedAt(domain, now).getTime() - now.getTime();
  if (remaining > 0) throw tooEarly('verify_too_early', 'DNS was just checked', remaining);
  const asked = { ...domain, dns: { ...domain.dns, lastVerifyAskedAt: now } };
  return { state: triedAgain(asked, now), events: [] };
};

/** A certificate that is wanted before the traffic leads here has no other button. Not before an authority accepts it. */
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

/** Earliest time of the owner's next Verify; in the past if it is allowed already. */
export const verifyAllowedAt = ({ dns }: Pick<CustomDomain, 'dns'>, now: Date): Date => {
  const { lastVerifyAskedAt: last } = dns;
  // A time in the future means that the clock was set back.
  return last && last <= now ? new Date(last.getTime() + pauseBetweenVerifiesMs) : now;
};

/**
 * Decides on a check that the owner requested. A verified or live domain stays so.
 * @throws DomainError `domain_wrong_state`
 */
export const verify = (domain: CustomDomain, report: DnsReport, moment: Moment): DomainDecision =>
  domain.state === 'removed' ? refuseMove(domain, 'verified') : recordCheck(domain, report, moment);

/**
 * Starts a new attempt when a certificate does not come. An order under way is continued.
 * @throws DomainError `reverify_too_early` with the time that remains, `domain_wrong_state`
 */
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

/** Earliest time of the owner's next attempt; in the past if it is allowed already. */
export const reverifyAllowedAt = (domain: DomainIn<'verified'>, now: Date): Date => {
  const { certificate, verifiedAt } = domain;
  const { attempts } = certificate.work;
  const lastAt = (attempts?.lastAt ?? verifiedAt).getTime();
  // At most one pause from now, even if the clock was set back.
  const rested = new Date(Math.min(lastAt, now.getTime()) + pauseBeforeReverifyMs);
  return turnAt(domainChoice(domain), rested);
};

const tooEarly = (code: DomainsErrorCode, what: string, remaining: number) =>
  refusal(code, `${what}. Try again in ${inWords(remaining)}.`);
