import { isCertified } from '../../../domains/domain/attachment/plan.ts';
import type { CustomDomain } from '../../../domains/domain/attachment/custom-domain.ts';
import { changesRoutes } from '../../../domains/domain/attachment/serving.ts';
import type { Database } from '../database.ts';
import { removeCertificate } from './kysely-certificates.ts';
import { alignRoutes } from './project-routes.ts';

/** A domain before and after a change. */
export interface DomainMove {
  readonly from: CustomDomain;
  readonly to: CustomDomain;
}

// For the other adapters of this folder, in this order: lock the projects before any write, in a fixed order, and take
// the revision last. Deploys use the same order, so they cannot deadlock.

/**
 * Writing a domain only takes a shared lock on its project, which others can take too.
 * @param others projects whose routes follow from the moves
 */
export const lockProjectsOf = async (
  database: Database,
  moves: readonly DomainMove[],
  others: readonly string[],
): Promise<void> => {
  const ids = [...moves.filter(isSeen).map(({ to }) => to.projectId), ...others];
  for (const id of ids.sort()) await database.lock('projects', id);
};

/** Removes what is no longer served from the edges, and adds what is served from now on. */
export const serveMoves = async (
  database: Database,
  moves: readonly DomainMove[],
  now: Date,
): Promise<void> => {
  for (const move of moves) {
    if (isSeen(move)) await alignRoutes(database, move.to.projectId, now);
    if (losesCertificate(move) && !moves.some(hasCertificate))
      await removeCertificate(database.db, move.to.host, now);
  }
};

const isSeen = ({ from, to }: DomainMove): boolean => changesRoutes(from, to);

/** Its certificate has ended, or it loses the name. */
const losesCertificate = (move: DomainMove): boolean =>
  losesName(move) || (isIssued(move.from) && !isIssued(move.to));

/** Of all that a change moves, which have the same name: whoever takes it over may take the certificate, too. */
const hasCertificate = ({ to }: DomainMove): boolean => isIssued(to);

const isIssued = ({ certificate }: CustomDomain): boolean => certificate.kind === 'issued';

/** A domain that never held the name had no certificate: the one stored under the name belongs to another. */
export const losesName = ({ from, to }: DomainMove): boolean =>
  isCertified(from) && !isCertified(to);
