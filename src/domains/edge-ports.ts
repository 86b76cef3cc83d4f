import type { Validity } from './domain/certificates/certificate.ts';
import type { Route } from './domain/redirects/routes.ts';

/** A certificate as an edge loads it. Calling `privateKey` decrypts, so that only keys in use are in the clear. */
export interface LoadedCertificate extends Validity {
  readonly host: string;
  readonly chain: string;
  readonly privateKey: () => string;
}

/** What changed for the edges up to `revision`. */
export interface EdgeChanges {
  readonly revision: bigint;
  readonly routes: readonly Route[];
  readonly removedRoutes: readonly string[];
  readonly certificates: readonly LoadedCertificate[];
  readonly removedCertificates: readonly string[];
}

/** What all edges serve. Every change has a revision, in the order in which the changes were committed. */
export abstract class EdgeRecords {
  /** @param revision the last one that is known; 0 gives everything that is served now @throws Unavailable */
  abstract changesSince(revision: bigint): Promise<EdgeChanges>;

  abstract names(): Promise<readonly string[]>;
}
