import type { Kysely } from 'kysely';
import { createIndexOnce } from '../tables.ts';

/** Version 1.1.0 looks for the domains of a name. Version 1.0.0 does not, and still serves meanwhile. */
export const up = (db: Kysely<unknown>): Promise<void> =>
  createIndexOnce(db, 'domains', 'domains_by_name', ['host', 'state', 'id']);
