import type { LedgerChange } from './ca-ledger.ts';
import type { Certificate } from './certificate.ts';
import type { DomainDecision } from './custom-domain.ts';
import type { TimelineEntry } from './domain-timeline.ts';

/** What becomes of a domain, and of what hangs on it: stored as a whole or not at all. */
export interface DomainChange extends DomainDecision {
  /** What led to it, as its owner is told. */
  readonly cause?: TimelineEntry | undefined;
  /** Who has to give the name up for it. */
  readonly displaced?: DomainDecision;
  /** What it is served with from now on. */
  readonly certificate?: Certificate;
  readonly ledger?: LedgerChange;
  /** Subject of an order that is over: it is forgotten, with its challenge and its key. */
  readonly endsOrder?: string;
}
