import type { LedgerChange } from '../certificates/ca-ledger.ts';
import type { Certificate } from '../certificates/certificate.ts';
import type { DomainDecision } from './custom-domain.ts';
import type { TimelineEntry } from './timeline.ts';

/** A decision on a domain and everything that depends on it: stored as a whole or not at all. */
export interface DomainChange extends DomainDecision {
  /** The cause, as shown to the owner. */
  readonly cause?: TimelineEntry | undefined;
  /** The rival that loses the name. */
  readonly displaced?: DomainDecision;
  /** The certificate that serves it from now on. */
  readonly certificate?: Certificate;
  readonly ledger?: LedgerChange;
  /** Subject of an order that has ended: it is deleted with its challenge and key. */
  readonly endsOrder?: string;
}
