import { waitAfter, type Attempts } from './attempts.ts';
import type { AuthorityFailureReason } from './order.ts';
import type { DnsProblem } from '../dns/problem.ts';

/** Progress of a domain's certificate. */
export interface CertificateStanding {
  /** Stays `issued` while a renewal is under way. */
  readonly status: 'none' | 'issuing' | 'issued' | 'failed';
  /** Since the domain was verified, the owner asked again, or the last one was issued. */
  readonly attempts: Attempts | undefined;
  /** Time of the next step: an attempt, a look at the order, or the renewal. */
  readonly nextAttemptAt: Date | undefined;
  /** The next attempt waits until the DNS is correct. */
  readonly waitsForDns: boolean;
  /** The owner requested the current or next attempt. */
  readonly isManual: boolean;
  /** The authority asked us not to retry before then. */
  readonly retryAt: Date | undefined;
  readonly problem: DnsProblem | undefined;
  readonly notBefore: Date | undefined;
  readonly notAfter: Date | undefined;
  /** An order is under way; it is always continued, and no second one begins. */
  readonly isOrdered: boolean;
  /** Do not ask for the renewal window again before then (RFC 9773, section 4.3). */
  readonly askRenewalAt: Date | undefined;
}

export const noCertificate: CertificateStanding = {
  status: 'none',
  attempts: undefined,
  nextAttemptAt: undefined,
  waitsForDns: false,
  isManual: false,
  retryAt: undefined,
  problem: undefined,
  notBefore: undefined,
  notAfter: undefined,
  isOrdered: false,
  askRenewalAt: undefined,
};

/** A first or new attempt, due immediately. */
export const orderAtOnce = (now: Date): CertificateStanding => ({
  ...noCertificate,
  status: 'issuing',
  nextAttemptAt: now,
});

export const latest = (...dates: readonly (Date | undefined)[]): Date =>
  new Date(Math.max(...dates.map((date) => date?.getTime() ?? 0)));

/** Earliest time of the next attempt, even when the DNS is correct sooner. */
export const restedAt = ({
  attempts,
  retryAt,
}: Pick<CertificateStanding, 'attempts' | 'retryAt'>): Date => {
  const lastAt = attempts?.lastAt.getTime() ?? 0;
  return latest(new Date(lastAt + waitAfter(attempts?.failed ?? 0)), retryAt);
};

/** These failures leave the order valid, and continuing it costs nothing. */
export const keepsOrder = (reason: AuthorityFailureReason): boolean =>
  reason === 'unavailable' || reason === 'rate_limited';
