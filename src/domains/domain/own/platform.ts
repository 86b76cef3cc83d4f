import type { Validity } from '../certificates/certificate.ts';
import { shareLeft, urgentFrom } from '../certificates/renewal.ts';
import type { OwnName } from './own-name.ts';

/** The name in our zone where the platform's challenge name leads. */
export const platformLabel = 'platform';

/** The platform's certificate is kept under the second name, which all hosts of projects are below. */
export const pairOf = (platformHost: string) =>
  ({ host: `*.${platformHost}`, also: [platformHost] }) as const;

/** Of its lifetime. The alert PlatformCertificateEnding has the same number. */
export const endingShare = 0.2;

/** How near the end of the platform's certificate is: `urgent` is too near to rely on it, or past. */
export type Ending = 'far' | 'near' | 'urgent';

export const endingOf = (validity: Validity, now: Date): Ending => {
  if (now >= urgentFrom(validity)) return 'urgent';
  return shareLeft(validity, now) < endingShare ? 'near' : 'far';
};

/** Whether visitors of the hosts of projects get the pair's certificate. Too near its end, it is still theirs. */
export const servesHosts = (pair: OwnName | undefined, now: Date): boolean =>
  pair?.certificate.kind === 'issued' && pair.certificate.notAfter > now;

/** Whether they can rely on it, so that they need none of their own. */
export const coversHosts = (pair: OwnName | undefined, now: Date): boolean =>
  pair?.certificate.kind === 'issued' && endingOf(pair.certificate, now) !== 'urgent';
