import type { Kysely } from 'kysely';
import { addColumnOnce, columnsFor, maybe } from '../tables.ts';

/** Version 1.1.0: orders and limits are of one of two authorities. Version 1.0.0 leaves out which, and still serves meanwhile. */
export const up = async (db: Kysely<unknown>): Promise<void> => {
  const { text } = columnsFor(db);
  await addColumnOnce(db, 'certificate_orders', 'authority', maybe(text(255)));
  await addColumnOnce(db, 'authority_ledger', 'authority', maybe(text(255)));
};
