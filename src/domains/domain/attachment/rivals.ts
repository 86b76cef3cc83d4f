import type { DomainsEvent } from '../domains-event.ts';
import { about, type Attachment } from './attachment.ts';

/** A domain that waits for the proof of its name. */
export type Rival = Pick<Attachment, 'id' | 'accountId' | 'projectId' | 'host'>;

/** One proof tells at most so many owners: those who added the name first. */
export const mostRivalsTold = 100;

/**
 * Another account has proven the name, or the wildcard over it, so this domain needs the record that proves it (`proofOf`)
 * now.
 * @param proven what was proven
 */
export const contested = (rival: Rival, proven: string, now: Date): DomainsEvent => ({
  type: 'domain_contested',
  ...about(rival, now),
  host: rival.host,
  ...(proven !== rival.host && { wildcard: proven }),
});
