import type { Kysely } from 'kysely';
import { columnsFor } from '../columns.ts';

/** One row for each job that one process of a fleet does at a time. */
export const up = async (db: Kysely<unknown>): Promise<void> => {
  const { id, text, integer, finish } = columnsFor(db);
  await finish(
    db.schema
      .createTable('job_leases')
      .ifNotExists()
      .addColumn('job', text(64), (c) => c.primaryKey().notNull())
      .addColumn('holder', id, (c) => c.notNull())
      .addColumn('lease_until', integer, (c) => c.notNull()),
  ).execute();
};
