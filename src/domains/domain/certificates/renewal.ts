import crc32 from 'crc-32';
import { minuteMs, dayMs } from '../../../kernel/durations.ts';

/** PEM, leaf first; the key is PKCS #8. */
export interface Certificate extends Validity {
  readonly host: string;
  readonly chain: string;
  readonly privateKey: string;
}

export interface Validity {
  readonly notBefore: Date;
  readonly notAfter: Date;
}

/** A name without a dot is a label below the platform host, so that routes survive a change of that host. */
export const hostOf = (routeName: string, platformHost: string): string =>
  routeName.includes('.') ? routeName : `${routeName}.${platformHost}`;

// Lifetimes range from days to more than a year, so all times here are shares of the lifetime.

/** The authority's renewal window (RFC 9773, section 4.2). */
export interface RenewalSpan {
  readonly start: Date;
  readonly end: Date;
}

export interface HostValidity extends Validity {
  readonly host: string;
}

const lifeOf = ({ notBefore, notAfter }: Validity): number =>
  notAfter.getTime() - notBefore.getTime();

export const shareLeft = (validity: Validity, now: Date): number =>
  (validity.notAfter.getTime() - now.getTime()) / lifeOf(validity);

export const urgentFrom = (validity: Validity): Date =>
  new Date(validity.notAfter.getTime() - lifeOf(validity) / 20);

/**
 * Renews up to a tenth earlier, by the time left until the end, so that certificates of one day do not renew together.
 * The result for one certificate never changes.
 */
export const renewalTime = ({ host, ...validity }: HostValidity): Date => {
  const life = lifeOf(validity);
  const share = life < 10 * dayMs ? 1 / 2 : 1 / 3;
  const spread = 1 + 0.1 * fractionOf(`${host} ${validity.notAfter.toISOString()}`);
  return new Date(validity.notAfter.getTime() - life * share * spread);
};

const fractionOf = (text: string): number => (crc32.str(text) >>> 0) / 2 ** 32;

/**
 * The next renewal without a window. Never immediately, because orders would never stop if our clock were months ahead.
 */
export const nextRenewal = (validity: HostValidity, now: Date): Date =>
  new Date(Math.max(renewalTime(validity).getTime(), now.getTime() + shortPause(validity, now)));

/** Well before the end. A certificate that has already ended shows that our clock is ahead. */
const shortPause = (validity: Validity, now: Date): number => {
  const [life, left] = [lifeOf(validity), validity.notAfter.getTime() - now.getTime()];
  if (left <= 0) return Math.max(minuteMs, life / 20);
  return Math.max(Math.min(minuteMs, left / 4), Math.min(life, left) / 20);
};

export const preflightAt = (validity: Validity, renewalAt: Date): Date =>
  new Date(renewalAt.getTime() - Math.min(lifeOf(validity) / 10, 7 * dayMs));

export const pauseBetweenQuestions = (validity: Validity, now: Date): number =>
  Math.min(dayMs / 2, shortPause(validity, now));

/** RFC 9773, section 4.2: the window must end after it starts. It must also start before the certificate ends. */
export const makesSense = ({ start, end }: RenewalSpan, { notAfter }: Validity): boolean =>
  start < end && start < notAfter;

/** Never too late, even if the window is; in the past means now. @param chance 0 to 1, spreads renewals */
export const wishedRenewalTime = (
  validity: Validity,
  { start, end }: RenewalSpan,
  chance: number,
): Date => {
  const last = urgentFrom(validity).getTime();
  const [from, to] = [start, end].map((at) => Math.min(at.getTime(), last)) as [number, number];
  return new Date(from + chance * (to - from));
};
