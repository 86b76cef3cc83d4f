/** A delivery whose subscriber failed too often. */
export interface ParkedDelivery {
  readonly id: string;
  readonly subscriber: string;
  /** How often it was tried. */
  readonly attempts: number;
  /** The last error, as its subscriber worded it: it may contain a secret. */
  readonly problem: string;
  readonly eventId: string;
  readonly type: string;
  readonly accountId: string;
  readonly occurredAt: Date;
}

/** What became of a request to deliver one again. */
export type Release = 'released' | 'not_parked' | 'unknown';

/** The deliveries that the relay gave up on, for a person to look at and to release. */
export abstract class ParkedDeliveries {
  /** The oldest deliveries first, no more than `limit`. @param after the last id of the page before */
  abstract list(limit: number, after?: string): Promise<readonly ParkedDelivery[]>;

  /**
   * Makes one due now, with all its attempts before it again. Of several that ask at the same time one gets `released`.
   * A delivery that is not parked stays as it is, whoever works on it.
   */
  abstract release(deliveryId: string): Promise<Release>;

  /** Makes all due that are parked now. @returns how many this call released */
  abstract releaseAll(): Promise<number>;
}
