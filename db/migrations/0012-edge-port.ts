import type { Kysely } from 'kysely';
import { addColumnOnce, columnsFor } from '../columns.ts';

/** The port at which visitors reach the edges over HTTPS; none until an edge has started. */
export const up = async (db: Kysely<unknown>): Promise<void> => {
  await addColumnOnce(db, 'edge_revision', 'public_port', columnsFor(db).integer);
};
