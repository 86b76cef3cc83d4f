import type { Kysely } from 'kysely';
import { columnsFor, createTableOnce, primary } from '../tables.ts';

/** Version 1.1.0: work on certificates of the platform's own names. Version 1.0.0 knows none of it, and still serves meanwhile. */
export const up = (db: Kysely<unknown>): Promise<void> => {
  const { text, longText, integer } = columnsFor(db);
  return createTableOnce(db, 'own_names', {
    columns: { host: primary(text(255)), generation: integer, details: longText },
    indexes: {},
  });
};
