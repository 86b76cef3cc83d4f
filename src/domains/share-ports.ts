import type { CustomDomain } from './domain/attachment/custom-domain.ts';
import type { DomainShare, ShareChange } from './domain/attachment/share.ts';

/** Links to pages about one domain each. Secrets come as SHA-256 in lower-case hex. They go with their domain. */
export abstract class DomainShares {
  /**
   * Locks the domain, decides with its links that work, and saves links and events together or not at all.
   * @param decide synchronous
   * @throws DomainError `domain_not_found`, also for a domain of another account; whatever `decide` throws
   */
  abstract change<Change extends ShareChange>(
    domain: Pick<CustomDomain, 'id' | 'accountId'>,
    now: Date,
    decide: (domain: CustomDomain, open: readonly DomainShare[]) => Change,
  ): Promise<Change>;

  /** Those of a domain that work, newest first. */
  abstract list(
    domain: Pick<CustomDomain, 'id' | 'accountId'>,
    now: Date,
  ): Promise<readonly DomainShare[]>;

  /** Undefined when there is none, it has ended, or its domain is removed: each costs the same look-up. */
  abstract find(secretHash: string, now: Date): Promise<DomainShare | undefined>;
}

/** Secrets of links, and the form in which they are stored. */
export interface LinkSecrets {
  /** At least 128 bits at random, for an address. */
  readonly next: () => string;
  /** SHA-256 in lower-case hex. */
  readonly hash: (secret: string) => string;
}
