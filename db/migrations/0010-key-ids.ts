import type { Kysely } from 'kysely';
import { addColumnOnce, columnsFor, createIndexOnce } from '../columns.ts';

const tables = ['certificates', 'certificate_orders', 'authority_accounts'];

/** Beside each sealed value the id of the key that it is sealed under; none where an earlier release sealed it. */
export const up = async (db: Kysely<unknown>): Promise<void> => {
  const { text } = columnsFor(db);
  for (const table of tables) {
    await addColumnOnce(db, table, 'sealed_by', text(16));
    await createIndexOnce(db, `${table}_sealed_by`, table, ['sealed_by']);
  }
};
