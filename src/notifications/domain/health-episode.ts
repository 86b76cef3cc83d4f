import { about, type EpisodeLook, type WatchedDomain } from './watched-domain.ts';

/** A live domain leads elsewhere. */
export interface Straying {
  /** When a check first showed it. */
  readonly since: Date;
  readonly isTold: boolean;
}

const minute = 60_000;
/** DNS fails briefly, so nothing is told before a check this much later shows the same. */
export const toldAfterMs = 60 * minute;
/** The check that confirms it may be late. */
const againAfterMs = 5 * minute;

export const lookAtHealth = (
  episode: Straying | undefined,
  domain: WatchedDomain,
  now: Date,
): EpisodeLook<Straying> => {
  const { astray, checkedAt = now } = domain.dns;
  if (!astray) {
    const isNews = episode?.isTold === true;
    const recovered = { type: 'domain_recovered', ...about(domain, now) } as const;
    return { episode: undefined, events: isNews ? [recovered] : [] };
  }
  if (episode?.isTold) return { episode, events: [] };
  const since = episode?.since ?? checkedAt;
  if (checkedAt.getTime() - since.getTime() >= toldAfterMs) {
    const found = { type: 'domain_unhealthy', ...about(domain, now), ...astray } as const;
    return { episode: { since, isTold: true }, events: [found] };
  }
  const lookAt = Math.max(since.getTime() + toldAfterMs, now.getTime() + againAfterMs);
  return { episode: { since, isTold: false }, events: [], lookAt: new Date(lookAt) };
};
