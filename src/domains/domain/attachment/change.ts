import type { StoredWork } from '../certificates/certificate-work.ts';
import type { DomainDecision } from './custom-domain.ts';
import type { TimelineEntry } from './timeline.ts';

/** A decision on a domain and everything that depends on it: stored as a whole or not at all. */
export interface DomainChange extends DomainDecision, StoredWork {
  /** The cause, as shown to the owner. */
  readonly cause?: TimelineEntry | undefined;
  /** The rival that loses the name. */
  readonly displaced?: DomainDecision;
}
