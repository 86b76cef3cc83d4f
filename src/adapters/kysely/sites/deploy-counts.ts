import { deployStates, type DeployState } from '../../../sites/domain/deploy.ts';
import type { DeployCounts } from '../../../sites/ports.ts';
import type { Database } from '../database.ts';

/** Reads every deploy; their number is limited by the projects. */
export const countDeploys = async ({ db, engine }: Database): Promise<DeployCounts> => {
  const rows = await db
    .selectFrom('deploys')
    .select(({ fn }) => ['state', fn.countAll<bigint>().as('count')])
    .select(engine.sum('bytes').as('bytes'))
    .groupBy('state')
    .execute();
  const found = new Map<string, (typeof rows)[number]>(rows.map((row) => [row.state, row]));
  const counts = deployStates.map((state) => [state, Number(found.get(state)?.count ?? 0n)]);
  return {
    byState: Object.fromEntries(counts) as Record<DeployState, number>,
    keptBytes: Number(found.get('succeeded')?.bytes ?? 0n),
  };
};
