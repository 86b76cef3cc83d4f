import type { Kysely } from 'kysely';
import { createIndexOnce } from '../columns.ts';

/** The newest entries of one kind of a domain, and the oldest of a kind over all, are found without reading any other. */
export const up = async (db: Kysely<unknown>): Promise<void> => {
  const add = (name: string, columns: readonly string[]) =>
    createIndexOnce(db, name, 'domain_timeline', columns);
  await add('domain_timeline_by_domain_and_kind', ['domain_id', 'kind', 'id']);
  await add('domain_timeline_by_kind_and_age', ['kind', 'occurred_at']);
};
