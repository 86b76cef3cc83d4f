import { nextStepAt, workOn } from '../certificates/standing.ts';
import type { CustomDomain } from './custom-domain.ts';
import { preflightAt } from '../certificates/renewal.ts';
import { isAttached } from './serving.ts';
import { newsAt } from './trouble.ts';

export type DueWork = 'check' | 'certificate';

/** When work on it is due; undefined if never. */
export const dueAt = (domain: CustomDomain): Date | undefined => {
  if (!isAttached(domain)) return undefined;
  return earliest(checkAt(domain), attemptAt(domain), newsAt(domain));
};

/** Certificate work goes first, because every order starts with a check. */
export const dueWork = (domain: CustomDomain, now: Date): DueWork | undefined => {
  if (isReached(attemptAt(domain), now)) return 'certificate';
  return isAttached(domain) && isReached(checkAt(domain), now) ? 'check' : undefined;
};

/** Something is to be told of it that no check and no attempt shows. */
export const hasNews = (domain: CustomDomain, now: Date): boolean => isReached(newsAt(domain), now);

/** When to check its DNS: by its schedule, and in any case once before its renewal. */
const checkAt = (domain: CustomDomain): Date | undefined =>
  earliest(domain.dns.nextCheckAt, preflightOf(domain));

/** @returns undefined when it was checked since, or no renewal is planned */
const preflightOf = (domain: CustomDomain): Date | undefined => {
  if (domain.state !== 'live') return undefined;
  const { work } = domain.certificate;
  if (work.step !== 'planned' || work.attempts) return undefined;
  const at = preflightAt(domain.certificate, work.at);
  const { lastCheckedAt } = domain.dns;
  return lastCheckedAt && lastCheckedAt >= at ? undefined : at;
};

/** When to go on with its certificate. */
export const attemptAt = (domain: CustomDomain): Date | undefined => {
  const work = workOn(domain);
  return work && nextStepAt(work);
};

const earliest = (...dates: readonly (Date | undefined)[]): Date | undefined => {
  const times = dates.flatMap((date) => (date ? [date.getTime()] : []));
  return times.length > 0 ? new Date(Math.min(...times)) : undefined;
};

const isReached = (time: Date | undefined, now: Date): boolean => time !== undefined && time <= now;
