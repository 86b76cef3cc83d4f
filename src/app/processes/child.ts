import type { MetricSnapshot } from '../../adapters/http/metrics/together.ts';
import type { Places, Stopping } from './messages.ts';

export interface Ending {
  readonly code: number | null;
  readonly signal: string | null;
}

/** A process that serves, as its parent knows it. */
export interface Child {
  readonly pid: number | undefined;
  /** Undefined when it ended before it served. */
  readonly served: Promise<Places | undefined>;
  readonly ended: Promise<Ending>;
  /** Prints what a start says to people, with the first account. */
  introduce(): void;
  /** Ends it in good order; kills it if that takes too long. */
  stop(why: Stopping): void;
  kill(): void;
  /** Undefined when it does not answer in time. */
  snapshot(): Promise<MetricSnapshot | undefined>;
}
