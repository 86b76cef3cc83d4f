import type { Kysely } from 'kysely';
import { isCertified } from '../../sites/domain/certificate-plan.ts';
import type { CustomDomain } from '../../sites/domain/custom-domain.ts';
import { sinceOf } from './custom-domain-rows.ts';
import type { Database } from './database.ts';
import { removeCertificate } from './edge-route-writer.ts';
import { alignRoutes, lockProject } from './project-routes.ts';
import type { Schema } from './schema.ts';

/** What becomes of a domain. */
export interface DomainMove {
  readonly from: CustomDomain;
  readonly to: CustomDomain;
}

// For the other adapters of this folder, in this order: the projects are locked before anything is written, in one
// order, and the revision is taken last. A deploy goes the same way, so nobody waits for each other.

/** Writing a domain would lock its project too, but only so far that others can do the same. */
export const lockProjectsOf = async (
  database: Database,
  db: Kysely<Schema>,
  moves: readonly DomainMove[],
): Promise<void> => {
  const ids = moves.filter(changesHosts).map(({ to }) => to.projectId);
  for (const id of ids.sort()) await lockProject(database, db, id);
};

/** Takes from the edges what is not served any more, and gives them what is from now on. */
export const serveMoves = async (
  database: Database,
  db: Kysely<Schema>,
  moves: readonly DomainMove[],
): Promise<void> => {
  for (const move of moves.filter(changesHosts)) {
    await alignRoutes(database, db, move.to.projectId, sinceOf(move.to));
    await removeCertificateOf(db, move);
  }
};

/** What is only verified is served as little as before. */
const changesHosts = ({ from, to }: DomainMove): boolean =>
  from.state !== to.state && to.state !== 'verified';

/** Who never held the name had no certificate: what is under the name belongs to somebody else. */
const removeCertificateOf = async (db: Kysely<Schema>, { from, to }: DomainMove): Promise<void> => {
  if (!isCertified(from) || to.state !== 'removed') return;
  await removeCertificate(db, to.host, to.removedAt);
};
