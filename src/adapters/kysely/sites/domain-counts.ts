import {
  customDomainStates,
  type CustomDomainState,
} from '../../../domains/domain/attachment/custom-domain.ts';
import type { Queries } from '../database.ts';

/** Reads an index, and no row. */
export const countDomains = async (
  db: Queries,
): Promise<Readonly<Record<CustomDomainState, number>>> => {
  const rows = await db
    .selectFrom('domains')
    .select(({ fn }) => ['state', fn.countAll<bigint>().as('count')])
    .groupBy('state')
    .execute();
  const counts = new Map<string, bigint>(rows.map(({ state, count }) => [state, count]));
  const all = customDomainStates.map((state) => [state, Number(counts.get(state) ?? 0n)] as const);
  return Object.fromEntries(all) as Record<CustomDomainState, number>;
};
