import crc32 from 'crc-32';

/** What an authority issued for one host. PEM: the leaf first, then the intermediates; PKCS #8 for the key. */
export interface Certificate extends Validity {
  readonly host: string;
  readonly chain: string;
  readonly privateKey: string;
}

export interface Validity {
  readonly notBefore: Date;
  readonly notAfter: Date;
}

/**
 * A route's name as a host: one without a dot is a label below the platform host, so that routes stay right
 * when that changes.
 */
export const hostOf = (routeName: string, platformHost: string): string =>
  routeName.includes('.') ? routeName : `${routeName}.${platformHost}`;

// Lifetimes go from days to more than a year, so every time here is a share of the lifetime.

/** When an authority wants to be asked for the next certificate (RFC 9773, section 4.2). */
export interface RenewalSpan {
  readonly start: Date;
  readonly end: Date;
}

export interface HostValidity extends Validity {
  readonly host: string;
}

const minute = 60_000;
const day = 24 * 60 * minute;

const lifeOf = ({ notBefore, notAfter }: Validity): number =>
  notAfter.getTime() - notBefore.getTime();

export const shareLeft = (validity: Validity, now: Date): number =>
  (validity.notAfter.getTime() - now.getTime()) / lifeOf(validity);

/** The last moment to begin: a twentieth of its life is left. */
export const urgentFrom = (validity: Validity): Date =>
  new Date(validity.notAfter.getTime() - lifeOf(validity) / 20);

/**
 * With a third of its lifetime left, or half of a short one, so that there is time for failures. Up to a tenth of that
 * earlier, so that certificates of one day are not renewed in one minute; always the same for the same certificate.
 */
export const renewalTime = ({ host, ...validity }: HostValidity): Date => {
  const life = lifeOf(validity);
  const share = life < 10 * day ? 1 / 2 : 1 / 3;
  const spread = 1 + 0.1 * fractionOf(`${host} ${validity.notAfter.toISOString()}`);
  return new Date(validity.notAfter.getTime() - life * share * spread);
};

/** 0 to below 1 */
const fractionOf = (text: string): number => (crc32.str(text) >>> 0) / 2 ** 32;

export const isDueForRenewal = (validity: HostValidity, now: Date): boolean =>
  renewalTime(validity) <= now;

/**
 * When to renew if the authority names no window. Never immediately: with a clock months ahead of the authority's, orders
 * would follow each other without end.
 */
export const nextRenewal = (validity: HostValidity, now: Date): Date =>
  new Date(Math.max(renewalTime(validity).getTime(), now.getTime() + shortPause(validity, now)));

/** Well before it ends, however little of it is left. One that has ended already shows that our clock is ahead. */
const shortPause = (validity: Validity, now: Date): number => {
  const [life, left] = [lifeOf(validity), validity.notAfter.getTime() - now.getTime()];
  if (left <= 0) return Math.max(minute, life / 20);
  return Math.max(Math.min(minute, left / 4), Math.min(life, left) / 20);
};

/** The last check of the DNS before a renewal, early enough that its owner can still mend it. */
export const preflightAt = (validity: Validity, renewalAt: Date): Date =>
  new Date(renewalAt.getTime() - Math.min(lifeOf(validity) / 10, 7 * day));

/** How long to wait before the authority is asked for a window again, if it does not say. */
export const pauseBetweenQuestions = (validity: Validity, now: Date): number =>
  Math.min(day / 2, shortPause(validity, now));

/** RFC 9773, section 4.2: a window that ends before it begins is none. One that begins after the end is too late. */
export const makesSense = ({ start, end }: RenewalSpan, { notAfter }: Validity): boolean =>
  start < end && start < notAfter;

/**
 * A moment within the authority's window, but never too late, even if the window is. One in the past means now.
 * @param chance 0 to 1: spreads renewals that are due together
 */
export const wishedRenewalTime = (
  validity: Validity,
  { start, end }: RenewalSpan,
  chance: number,
): Date => {
  const last = urgentFrom(validity).getTime();
  const [from, to] = [start, end].map((at) => Math.min(at.getTime(), last)) as [number, number];
  return new Date(from + chance * (to - from));
};
