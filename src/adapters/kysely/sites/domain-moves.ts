import { isCertified } from '../../../domains/domain/attachment/plan.ts';
import type { CustomDomain } from '../../../domains/domain/attachment/custom-domain.ts';
import { changesRoutes } from '../../../domains/domain/attachment/serving.ts';
import type { Database } from '../database.ts';
import { lockedRow } from '../locked-row.ts';
import { removeCertificate } from './kysely-certificates.ts';
import { alignRoutes } from './project-routes.ts';

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
  moves: readonly DomainMove[],
): Promise<void> => {
  const ids = moves.filter(isSeen).map(({ to }) => to.projectId);
  for (const id of ids.sort()) await lockedRow(database, 'projects', id);
};

/** Removes what is no longer served from the edges, and adds what is served from now on. */
export const serveMoves = async (
  database: Database,
  moves: readonly DomainMove[],
  now: Date,
): Promise<void> => {
  for (const move of moves) {
    if (isSeen(move)) await alignRoutes(database, move.to.projectId, now);
    if (losesName(move)) await removeCertificate(database.db, move.to.host, now);
  }
};

const isSeen = ({ from, to }: DomainMove): boolean => changesRoutes(from, to);

/** A domain that never held the name had no certificate: the one stored under the name belongs to another. */
const losesName = ({ from, to }: DomainMove): boolean => isCertified(from) && !isCertified(to);
