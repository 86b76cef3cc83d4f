import { isCertified } from '../certificates/plan.ts';
import type { CustomDomain } from './custom-domain.ts';

/** Automatic work on a domain. */
export type DueWork = 'check' | 'certificate';

/** When work on it is due; undefined if never. */
export const dueAt = (domain: CustomDomain): Date | undefined => {
  const { dns, certificate, state } = domain;
  if (state === 'removed') return undefined;
  const times = isCertified(domain)
    ? [dns.nextCheckAt, certificate.nextAttemptAt]
    : [dns.nextCheckAt];
  const planned = times.filter((time) => time !== undefined).map((time) => time.getTime());
  return planned.length > 0 ? new Date(Math.min(...planned)) : undefined;
};

/** Certificate work goes first, because every order starts with a check. */
export const dueWork = (domain: CustomDomain, now: Date): DueWork | undefined => {
  const { dns, certificate } = domain;
  if (isCertified(domain) && isReached(certificate.nextAttemptAt, now)) return 'certificate';
  return domain.state !== 'removed' && isReached(dns.nextCheckAt, now) ? 'check' : undefined;
};

const isReached = (time: Date | undefined, now: Date): boolean => time !== undefined && time <= now;
