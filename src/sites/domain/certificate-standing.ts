import { waitAfter, type Attempts } from './certificate-attempts.ts';
import type { AuthorityFailureReason } from './certificate-order.ts';
import type { DnsProblem } from './dns-problem.ts';

/** How a domain stands with its certificate. */
export interface CertificateStanding {
  /** `issued` as long as there is one, also while the next one is ordered. */
  readonly status: 'none' | 'issuing' | 'issued' | 'failed';
  /** Since the domain was verified, the owner asked again, or the last one was issued. */
  readonly attempts: Attempts | undefined;
  /** When work on it goes on: an attempt, a look at the order, or the renewal. */
  readonly nextAttemptAt: Date | undefined;
  /** There is no next attempt before the DNS is in order. */
  readonly waitsForDns: boolean;
  /** The owner asked for the attempt that is under way, or comes next. */
  readonly isManual: boolean;
  /** The authority wants to hear nothing before that. */
  readonly retryAt: Date | undefined;
  readonly problem: DnsProblem | undefined;
  readonly notBefore: Date | undefined;
  readonly notAfter: Date | undefined;
  /** An order is under way: it is continued, whatever happens, and no other begun beside it. */
  readonly isOrdered: boolean;
  /** Before that the authority is not asked again when it wants this certificate renewed (RFC 9773, section 4.3). */
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

/** A first or a fresh attempt, as soon as somebody gets to it. */
export const orderAtOnce = (now: Date): CertificateStanding => ({
  ...noCertificate,
  status: 'issuing',
  nextAttemptAt: now,
});

export const latest = (...dates: readonly (Date | undefined)[]): Date =>
  new Date(Math.max(...dates.map((date) => date?.getTime() ?? 0)));

/** Not before that is there another attempt, however the DNS is. */
export const restedAt = ({
  attempts,
  retryAt,
}: Pick<CertificateStanding, 'attempts' | 'retryAt'>): Date => {
  const lastAt = attempts?.lastAt.getTime() ?? 0;
  return latest(new Date(lastAt + waitAfter(attempts?.failed ?? 0)), retryAt);
};

/** After these the order is still good, and asking again for the same one costs nothing. */
export const keepsOrder = (reason: AuthorityFailureReason): boolean =>
  reason === 'unavailable' || reason === 'rate_limited';
