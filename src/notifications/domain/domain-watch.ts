import { lookAtCertificate, type FailingCertificate } from './certificate-episode.ts';
import { lookAtHealth, type Straying } from './health-episode.ts';
import type { EpisodeLook, WatchedDomain } from './watched-domain.ts';
import type { Look } from './look.ts';

const prefix = 'domain:';

/** What stands for a domain among all that is watched. */
export const subjectOf = (domainId: string): string => prefix + domainId;
/** @returns undefined for what is no domain */
export const domainIn = (subject: string): string | undefined =>
  subject.startsWith(prefix) ? subject.slice(prefix.length) : undefined;

export interface DomainMemory {
  readonly kind: 'domain';
  /** Since then it is known to be removed: nothing is told of it any more. */
  readonly overSince: Date | undefined;
  readonly straying: Straying | undefined;
  readonly failing: FailingCertificate | undefined;
}

const untroubled: DomainMemory = {
  kind: 'domain',
  ...{ overSince: undefined, straying: undefined, failing: undefined },
};

/** How long the memory of a removed domain is kept, so that a look that began before the removal tells nothing. */
const afterlifeMs = 60 * 60_000;

const dayMs = 24 * 60 * 60_000;

export const isForgotten = ({ overSince }: DomainMemory, now: Date): boolean =>
  overSince !== undefined && now.getTime() - overSince.getTime() >= afterlifeMs;

/** Tells what is wrong with a domain, and once it is right again. Of a removed domain it tells nothing. */
export const lookAtDomain = (
  memory: DomainMemory | undefined,
  domain: WatchedDomain,
  now: Date,
): Look<DomainMemory> => {
  if (!domain.isAttached) {
    const overSince = memory?.overSince ?? now;
    const lookAt = new Date(overSince.getTime() + afterlifeMs);
    return { memory: { ...untroubled, overSince }, events: [], lookAt };
  }
  const health = lookAtHealth(memory?.straying, domain, now);
  const certificate = domain.isAwaited
    ? awaited(now)
    : lookAtCertificate(memory?.failing, domain, now);
  return {
    memory: { ...untroubled, straying: health.episode, failing: certificate.episode },
    events: [...health.events, ...certificate.events],
    lookAt: earliest(health.lookAt, certificate.lookAt),
  };
};

/** Nobody tells when its visitors begin to come. */
const awaited = (now: Date): EpisodeLook<FailingCertificate> => ({
  ...{ episode: undefined, events: [] },
  lookAt: new Date(now.getTime() + dayMs),
});

const earliest = (...times: readonly (Date | undefined)[]): Date | undefined => {
  const known = times.flatMap((time) => (time ? [time.getTime()] : []));
  return known.length > 0 ? new Date(Math.min(...known)) : undefined;
};
