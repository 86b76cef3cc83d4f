import {
  makesSense,
  pauseBetweenQuestions,
  wishedRenewalTime,
  type RenewalSpan,
} from './renewal.ts';
import type { CertificateStanding, IssuedCertificate, RenewalWork } from './standing.ts';

/** A cap, so that a clock that was set back cannot block the question for ever. */
const longestRestMs = 24 * 60 * 60_000;

/**
 * Whether the authority may be asked when it wants the certificate renewed (RFC 9773, section 4.3). A renewal under way
 * needs no plan.
 */
export const mayAskFor = ({ work, askRenewalAt }: IssuedCertificate, now: Date): boolean => {
  if (work.attempts) return false;
  const rest = (askRenewalAt?.getTime() ?? 0) - now.getTime();
  return rest <= 0 || rest > longestRestMs;
};

/** From when on `mayAskFor` holds; undefined while a renewal is under way. */
export const askedForAt = ({ work, askRenewalAt }: IssuedCertificate): Date | undefined =>
  work.attempts ? undefined : (askRenewalAt ?? new Date(0));

/** What the authority said about a renewal, and a number from 0 to 1 that picks a moment in its window. */
export interface RenewalAnswer {
  /** Undefined: it offers none. */
  readonly window: (RenewalSpan & { readonly askAgainAt: Date }) | 'silent' | undefined;
  readonly chance: number;
}

export interface RenewalPlan {
  /** Undefined: it stays as it is. */
  readonly certificate?: IssuedCertificate | undefined;
  readonly verdict: 'planned' | 'unchanged' | 'makes_no_sense';
}

/** Plans the renewal, unless one is under way. A window that makes no sense is as good as none. */
export const planRenewal = (
  certificate: CertificateStanding,
  { window, chance }: RenewalAnswer,
  now: Date,
): RenewalPlan => {
  if (certificate.kind !== 'issued' || certificate.work.attempts) return { verdict: 'unchanged' };
  const otherwise = new Date(now.getTime() + pauseBetweenQuestions(certificate, now));
  if (!window || window === 'silent') {
    // It may have stopped offering windows, and then counts renewals again.
    const hasWindow = window === 'silent' && certificate.hasWindow;
    const none = { ...certificate, askRenewalAt: otherwise, hasWindow };
    return { certificate: none, verdict: 'unchanged' };
  }
  const asked = { ...certificate, askRenewalAt: window.askAgainAt };
  if (!makesSense(window, certificate)) return { certificate: asked, verdict: 'makes_no_sense' };
  const at = wishedRenewalTime(certificate, window, chance);
  // A renewal that waits for the DNS is due already.
  const work: RenewalWork =
    certificate.work.step === 'planned' ? { ...certificate.work, at } : certificate.work;
  return { certificate: { ...asked, work, hasWindow: true }, verdict: 'planned' };
};
