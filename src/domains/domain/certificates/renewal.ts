import type { Validity } from './certificate.ts';

/** When an authority wants to be asked for the next certificate (RFC 9773, section 4.2). */
export interface RenewalSpan {
  readonly start: Date;
  readonly end: Date;
}

const lifeOf = ({ notBefore, notAfter }: Validity): number =>
  notAfter.getTime() - notBefore.getTime();

/** The last moment to begin: a twentieth of its life is left. */
export const urgentFrom = (validity: Validity): Date =>
  new Date(validity.notAfter.getTime() - lifeOf(validity) / 20);

/**
 * With a third of its lifetime left, if the authority names no window. Never immediately: with a clock months ahead of
 * the authority's, orders would follow each other without end.
 */
export const nextRenewal = (validity: Validity, now: Date): Date => {
  const life = lifeOf(validity);
  return new Date(Math.max(validity.notAfter.getTime() - life / 3, now.getTime() + life / 20));
};

/**
 * A moment within the authority's window, but never too late, even if the window is.
 * @param chance 0 to 1: spreads renewals that are due together
 */
export const wishedRenewalTime = (
  validity: Validity,
  { start, end }: RenewalSpan,
  chance: number,
): Date => {
  const wished = start.getTime() + chance * Math.max(0, end.getTime() - start.getTime());
  return new Date(Math.min(wished, urgentFrom(validity).getTime()));
};
