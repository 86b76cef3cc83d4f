import { nextStepAt, workOn } from '../certificates/standing.ts';
import type { CustomDomain } from './custom-domain.ts';
import { isAttached } from './serving.ts';

export type DueWork = 'check' | 'certificate';

/** When work on it is due; undefined if never. */
export const dueAt = (domain: CustomDomain): Date | undefined => {
  if (!isAttached(domain)) return undefined;
  const planned = [domain.dns.nextCheckAt, attemptAt(domain)]
    .filter((time) => time !== undefined)
    .map((time) => time.getTime());
  return planned.length > 0 ? new Date(Math.min(...planned)) : undefined;
};

/** Certificate work goes first, because every order starts with a check. */
export const dueWork = (domain: CustomDomain, now: Date): DueWork | undefined => {
  if (isReached(attemptAt(domain), now)) return 'certificate';
  return isAttached(domain) && isReached(domain.dns.nextCheckAt, now) ? 'check' : undefined;
};

/** When to go on with its certificate. */
export const attemptAt = (domain: CustomDomain): Date | undefined => {
  const work = workOn(domain);
  return work && nextStepAt(work);
};

const isReached = (time: Date | undefined, now: Date): boolean => time !== undefined && time <= now;
