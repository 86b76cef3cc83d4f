import type { Kysely } from 'kysely';
import { columnsFor, createTableOnce, maybe, primary } from '../tables.ts';

/** Version 1.1.0. Version 1.0.0 knows none of this, and still serves meanwhile: it may remove a person who has rows here. */
export const up = (db: Kysely<unknown>): Promise<void> => {
  const { id, text, integer } = columnsFor(db);
  return createTableOnce(db, 'mail_requests', {
    columns: {
      id: primary(id),
      reason: text(32),
      email: text(254),
      person_id: maybe(id),
      asked_at: integer,
      mailed_at: maybe(integer),
    },
    indexes: {
      mail_requests_waiting: ['mailed_at', 'id'],
      mail_requests_by_email: ['email', 'mailed_at'],
      mail_requests_by_age: ['asked_at'],
    },
  });
};
