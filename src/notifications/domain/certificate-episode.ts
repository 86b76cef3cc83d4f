import { about, type EpisodeLook, type WatchedDomain } from './watched-domain.ts';
import type { Trouble } from './notification.ts';

/** A domain does not get its certificate. */
export interface FailingCertificate {
  readonly toldAt: Date;
  /** When the certificate begins that has no successor; undefined if it is the first. */
  readonly notBefore: Date | undefined;
}

const day = 24 * 60 * 60_000;
export const toldAgainAfterMs = 3 * day;
const failedAttempts = 3;

type Validity = NonNullable<WatchedDomain['certificate']['validity']>;

/** With a fifth of its lifetime left, 7 days at most: the renewal should have been long before. */
const overdueFrom = ({ notBefore, notAfter }: Validity): Date => {
  const life = notAfter.getTime() - notBefore.getTime();
  return new Date(notAfter.getTime() - Math.min(life / 5, 7 * day));
};

/** Only a newer certificate ends an episode: attempts may be counted anew without one. */
export const lookAtCertificate = (
  episode: FailingCertificate | undefined,
  domain: WatchedDomain,
  now: Date,
): EpisodeLook<FailingCertificate> => {
  const { validity } = domain.certificate;
  if (!episode) return isFailing(domain, now) ? tell(domain, now) : untroubled(validity);
  if (validity && isNewer(validity, episode) && !isFailing(domain, now)) {
    const expiresAt = validity.notAfter.toISOString();
    const recovered = { type: 'certificate_recovered', ...about(domain, now), expiresAt } as const;
    return { ...untroubled(validity), events: [recovered] };
  }
  const againAt = new Date(episode.toldAt.getTime() + toldAgainAfterMs);
  return now < againAt ? { episode, events: [], lookAt: againAt } : tell(domain, now);
};

const isFailing = ({ certificate: { failed, validity } }: WatchedDomain, now: Date): boolean =>
  failed >= failedAttempts || (validity !== undefined && now >= overdueFrom(validity));

/** By its beginning: a successor can have a shorter life, and end earlier. */
const isNewer = ({ notBefore }: Validity, episode: FailingCertificate): boolean =>
  episode.notBefore === undefined || notBefore > episode.notBefore;

const untroubled = (validity: Validity | undefined): EpisodeLook<FailingCertificate> => ({
  ...{ episode: undefined, events: [] },
  lookAt: validity && overdueFrom(validity),
});

const tell = (domain: WatchedDomain, now: Date): EpisodeLook<FailingCertificate> => {
  const { trouble = unknown, validity } = domain.certificate;
  const expiresAt = validity?.notAfter.toISOString() ?? '';
  return {
    episode: { toldAt: now, notBefore: validity?.notBefore },
    events: [{ type: 'certificate_failing', ...about(domain, now), ...trouble, expiresAt }],
    lookAt: new Date(now.getTime() + toldAgainAfterMs),
  };
};

/** No attempt has failed, but there was none in time. */
const unknown: Trouble = { problem: '', actor: 'us', fix: '' };
