import type { Kysely } from 'kysely';
import { columnsFor, createTableOnce } from '../tables.ts';

/** Version 1.1.0. Version 1.0.0 knows none of this, and still serves meanwhile. */
export const up = (db: Kysely<unknown>): Promise<void> => {
  const { text, integer } = columnsFor(db);
  return createTableOnce(db, 'dns_challenges', {
    columns: { label: text(63), value: text(255), subject: text(300), expires_at: integer },
    primaryKey: ['label', 'value', 'subject'],
    indexes: {
      dns_challenges_by_subject: ['subject'],
      dns_challenges_by_age: ['expires_at'],
    },
  });
};
