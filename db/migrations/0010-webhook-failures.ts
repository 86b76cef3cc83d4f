import type { Kysely } from 'kysely';
import { addColumnOnce, columnsFor, maybe } from '../tables.ts';

/** Version 1.1.0. Version 1.0.0 knows no webhooks, and still serves meanwhile. */
export const up = (db: Kysely<unknown>): Promise<void> =>
  addColumnOnce(db, 'webhooks', 'failed_at', maybe(columnsFor(db).integer));
