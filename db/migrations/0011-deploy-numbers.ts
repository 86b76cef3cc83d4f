import type { Kysely } from 'kysely';
import { addColumnOnce, columnsFor } from '../columns.ts';

/** The highest number that a deploy of the project ever had, also once that one is deleted; none before the next change. */
export const up = async (db: Kysely<unknown>): Promise<void> => {
  const { integer } = columnsFor(db);
  await addColumnOnce(db, 'projects', 'last_deploy_number', integer);
};
