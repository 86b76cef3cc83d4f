import type { Kysely } from 'kysely';
import { addColumnOnce, columnsFor, createIndexOnce, maybe } from '../tables.ts';

/** Version 1.1.0. Version 1.0.0 knows neither column, and still serves meanwhile. */
export const up = async (db: Kysely<unknown>): Promise<void> => {
  const { integer } = columnsFor(db);
  await addColumnOnce(db, 'people', 'proven_at', maybe(integer));
  await addColumnOnce(db, 'mail_requests', 'turn', maybe(integer));
  await createIndexOnce(db, 'mail_requests', 'mail_requests_by_turn', ['mailed_at', 'turn', 'id']);
};
