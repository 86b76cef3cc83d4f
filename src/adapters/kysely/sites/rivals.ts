import { contested, mostRivalsTold } from '../../../domains/domain/attachment/rivals.ts';
import { provenAt, type Certified } from '../../../domains/domain/attachment/certificate.ts';
import { isWildcard } from '../../../domains/domain/names/wildcard.ts';
import type { Queries } from '../database.ts';
import type { KyselyOutbox } from '../kysely-outbox.ts';
import { isBelow } from './names-below.ts';

/**
 * Tells the owners of all other domains that wait for a proof of the name. Of a wildcard, also other accounts that wait for
 * a name that it covers: they need a proof of their own from now on. Reads them without locks: each of them may hold its
 * own, and wait for this proof to be stored.
 */
export const tellRivals = async (
  db: Queries,
  outbox: KyselyOutbox,
  claimant: Certified,
): Promise<void> => {
  const { id, host, accountId } = claimant;
  const rivals = await db
    .selectFrom('domains')
    .select(['id', 'host', 'account_id as accountId', 'project_id as projectId'])
    .where((eb) => {
      const same = eb('host', '=', host);
      if (!isWildcard(host)) return same;
      const below = [isBelow(eb, host), eb('proven_host', 'is', null)];
      return eb.or([same, eb.and([...below, eb('account_id', '!=', accountId)])]);
    })
    .where('state', '=', 'added')
    .where('id', '!=', id)
    .orderBy('id')
    .limit(mostRivalsTold)
    .execute();
  await outbox.append(rivals.map((rival) => contested(rival, host, provenAt(claimant))));
};
