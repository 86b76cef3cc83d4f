import type { ExpressionBuilder } from 'kysely';
import {
  mostRivalsTold,
  type CustomDomain,
} from '../../../domains/domain/attachment/custom-domain.ts';
import type { Certified } from '../../../domains/domain/attachment/domain-certificate.ts';
import { awaitsCertificate, isWithheldFrom } from '../../../domains/domain/attachment/serving.ts';
import { baseOf, isWildcard, wildcardOver } from '../../../domains/domain/names/name-rules.ts';
import type { Database, Queries } from '../database.ts';
import type { Schema } from '../schema.ts';

// Other domains of the same name, and names that wildcards of other accounts cover.

/** Those of a project's domains for which no wildcard of another account may answer. */
export const withheldOf = async (
  db: Queries,
  domains: readonly CustomDomain[],
): Promise<readonly string[]> => {
  const waiting = domains.filter(awaitsCertificate);
  const names = waiting.flatMap(({ host }) => wildcardOver(host) ?? []);
  if (names.length === 0) return [];
  const wildcards = await db
    .selectFrom('domains')
    .select(['host', 'account_id as accountId'])
    .where('proven_host', 'in', names)
    .execute();
  return waiting
    .filter((one) => wildcards.some((wildcard) => isWithheldFrom(one, wildcard)))
    .map(({ host }) => host);
};

/**
 * Projects with a name that waits for its certificate below a wildcard that is proven now, and so must not answer for it, or
 * may where an account has it now that did not. Names that are only added are locked, too: one that is verified at the same
 * moment is seen here, or sees the wildcard.
 */
export const projectsBelow = async (
  { db, engine }: Database,
  { host, id }: Pick<CustomDomain, 'host' | 'id'>,
): Promise<readonly string[]> => {
  if (!isWildcard(host)) return [];
  const below = await db
    .selectFrom('domains')
    .select('id')
    .where((eb) => isBelow(eb, host))
    .where('state', 'in', ['added', 'verified'])
    .where('id', '!=', id)
    .execute();
  if (below.length === 0) return [];
  const rows = await db
    .selectFrom('domains')
    .select(['project_id', 'state'])
    .where(
      'id',
      'in',
      below.map(({ id }) => id),
    )
    .orderBy('id')
    .$call(engine.locked)
    .execute();
  const verified = rows.filter(({ state }) => state === 'verified');
  return [...new Set(verified.map(({ project_id }) => project_id))];
};

/**
 * All other domains that wait for a proof of the name. Of a wildcard, also those of other accounts that wait for a name that
 * it covers: they need a proof of their own from now on. Reads them without locks: each of them may hold its own, and wait
 * for this proof to be stored.
 */
export const rivalsOf = (db: Queries, { id, host, accountId }: Certified) =>
  db
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

/** Whether an attached name is one that the wildcard covers, or the wildcard itself. */
const isBelow = (eb: ExpressionBuilder<Schema, 'domains'>, wildcard: string) => {
  const host = eb.ref('attached_host');
  const parent = eb.fn<string>('substr', [host, eb.fn('instr', [host, eb.val('.')])]);
  return eb(parent, '=', `.${baseOf(wildcard)}`);
};
