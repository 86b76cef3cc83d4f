import { DomainError } from '../../kernel/domain-error.ts';
import { orderAtOnce } from './certificate-standing.ts';
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
  const { dns } = domain;
  const age = now.getTime() - (dns.lastVerifyAskedAt?.getTime() ?? -Infinity);
  // The future is a clock that was set back.
  if (age >= 0 && age < pauseBetweenVerifiesMs) {
    throw tooEarly('verify_too_early', 'DNS was just checked', pauseBetweenVerifiesMs - age);
  }
  return { state: { ...domain, dns: { ...dns, lastVerifyAskedAt: now } }, events: [] };
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
  const { certificate, verifiedAt } = domain;
  const age = Math.max(0, now.getTime() - (certificate.attempts?.lastAt ?? verifiedAt).getTime());
  const untilRetry = (certificate.retryAt?.getTime() ?? 0) - now.getTime();
  const remaining = Math.max(pauseBeforeReverifyMs - age, untilRetry);
  if (remaining > 0) {
    throw tooEarly('reverify_too_early', 'The last attempt was a short while ago', remaining);
  }
  const { order } = certificate;
  const attempts = { failed: 0, firstAt: now, lastAt: now };
  const fresh = { ...orderAtOnce(now), attempts, isManual: true, order };
  return { state: { ...domain, certificate: fresh }, events: [] };
};

const tooEarly = (
  code: 'verify_too_early' | 'reverify_too_early',
  what: string,
  remaining: number,
): DomainError<SitesErrorCode> =>
  new DomainError(code, `${what}. Try again in ${inWords(remaining)}.`);
