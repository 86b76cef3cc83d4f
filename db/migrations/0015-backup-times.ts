import type { Kysely } from 'kysely';
import { columnsFor, createTableOnce, primary } from '../tables.ts';

/** Version 1.1.0 remembers when backups ended well. Version 1.0.0 does not, and still serves meanwhile. */
export const up = (db: Kysely<unknown>): Promise<void> => {
  const { text, integer } = columnsFor(db);
  const columns = { step: primary(text(20)), moment: integer };
  return createTableOnce(db, 'backup_times', { columns });
};
