import { DomainError } from '../../kernel/domain-error.ts';
import { latest, orderAtOnce } from './certificate-standing.ts';
import {
  refuseMove,
  type CustomDomain,
  type DomainDecision,
  type Moment,
} from './custom-domain.ts';
import type { DnsReport } from './dns-report.ts';
import { recordCheck } from './domain-checks.ts';
import type { SitesErrorCode } from './sites-error.ts';
import { inWords } from './in-words.ts';

const pauseBetweenVerifiesMs = 10_000;
const pauseBeforeReverifyMs = 30 * 60_000;

/**
 * Before the DNS is asked because the owner wants to know: of many who ask at once, one passes.
 * @throws DomainError `verify_too_early`, `domain_wrong_state`
 */
export const askToVerify = (domain: CustomDomain, now: Date): DomainDecision => {
  if (domain.state === 'removed') return refuseMove(domain, 'verified');
  const remaining = verifyAllowedAt(domain, now).getTime() - now.getTime();
  if (remaining > 0) throw tooEarly('verify_too_early', 'DNS was just checked', remaining);
  return { state: { ...domain, dns: { ...domain.dns, lastVerifyAskedAt: now } }, events: [] };
};

/** From when on the owner may have the DNS looked at again; in the past when that is so already. */
export const verifyAllowedAt = ({ dns }: Pick<CustomDomain, 'dns'>, now: Date): Date => {
  const { lastVerifyAskedAt: last } = dns;
  // The future is a clock that was set back.
  return last && last <= now ? new Date(last.getTime() + pauseBetweenVerifiesMs) : now;
};

/**
 * Decides on a check that the owner asked for. One that is verified or live already stays so.
 * @throws DomainError `domain_wrong_state`
 */
export const verify = (domain: CustomDomain, report: DnsReport, moment: Moment): DomainDecision =>
  domain.state === 'removed' ? refuseMove(domain, 'verified') : recordCheck(domain, report, moment);

/**
 * Starts a fresh attempt at a certificate that does not come. An order that is under way is continued.
 * @throws DomainError `reverify_too_early` with the time that remains, `domain_wrong_state`
 */
export const reverify = (domain: CustomDomain, now: Date): DomainDecision => {
  if (domain.state !== 'verified') return refuseMove(domain, 'verified');
  const remaining = reverifyAllowedAt(domain, now).getTime() - now.getTime();
  if (remaining > 0) {
    throw tooEarly('reverify_too_early', 'The last attempt was a short while ago', remaining);
  }
  const { isOrdered } = domain.certificate;
  const attempts = { failed: 0, firstAt: now, lastAt: now };
  const fresh = { ...orderAtOnce(now), attempts, isManual: true, isOrdered };
  return { state: { ...domain, certificate: fresh }, events: [] };
};

/** From when on the owner may start a fresh attempt; in the past when that is so already. */
export const reverifyAllowedAt = (
  { certificate, verifiedAt }: Extract<CustomDomain, { readonly state: 'verified' }>,
  now: Date,
): Date => {
  const lastAt = (certificate.attempts?.lastAt ?? verifiedAt).getTime();
  // Never further away than the pause is long, also when the clock was set back since.
  const rested = new Date(Math.min(lastAt, now.getTime()) + pauseBeforeReverifyMs);
  return latest(rested, certificate.retryAt);
};

const tooEarly = (
  code: 'verify_too_early' | 'reverify_too_early',
  what: string,
  remaining: number,
): DomainError<SitesErrorCode> =>
  new DomainError(code, `${what}. Try again in ${inWords(remaining)}.`);
