import type { Kysely } from 'kysely';
import { isCertified } from '../../sites/domain/certificate-plan.ts';
import type { CustomDomain } from '../../sites/domain/custom-domain.ts';
import { sinceOf } from './custom-domain-rows.ts';
import type { Database } from './database.ts';
import { removeCertificate } from './edge-route-writer.ts';
import { alignRoutes, lockProject } from './project-routes.ts';
import type { Schema } from './schema.ts';

/** A domain before and after a change. */
export interface DomainMove {
  readonly from: CustomDomain;
  readonly to: CustomDomain;
}

// For the other adapters of this folder, in this order: lock the projects before any write, in a fixed order, and take
// the revision last. Deploys use the same order, so they cannot deadlock.

/** Writing a domain only takes a shared lock on its project, which others can take too. */
export const lockProjectsOf = async (
  database: Database,
  db: Kysely<Schema>,
  moves: readonly DomainMove[],
): Promise<void> => {
  const ids = moves.filter(changesHosts).map(({ to }) => to.projectId);
  for (const id of ids.sort()) await lockProject(database, db, id);
};

/** Removes what is no longer served from the edges, and adds what is served from now on. */
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

/** A domain that is only verified is not served yet. */
const changesHosts = ({ from, to }: DomainMove): boolean =>
  from.state !== to.state && to.state !== 'verified';

/** A domain that never held the name had no certificate: the one stored under the name belongs to another. */
const removeCertificateOf = async (db: Kysely<Schema>, { from, to }: DomainMove): Promise<void> => {
  if (!isCertified(from) || to.state !== 'removed') return;
  await removeCertificate(db, to.host, to.removedAt);
};
