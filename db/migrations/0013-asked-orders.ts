import type { Kysely } from 'kysely';
import { addColumnOnce, columnsFor, createIndexOnce } from '../columns.ts';

/** Beside each entry of the ledger the order that it belongs to; none where an earlier release entered it. */
export const up = async (db: Kysely<unknown>): Promise<void> => {
  const { text } = columnsFor(db);
  await addColumnOnce(db, 'authority_ledger', 'order_key', text(320));
  await createIndexOnce(db, 'authority_ledger_by_order', 'authority_ledger', ['order_key']);
};
