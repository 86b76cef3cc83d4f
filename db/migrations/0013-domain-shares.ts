import type { Kysely } from 'kysely';
import { columnsFor, createTableOnce, primary, unique } from '../tables.ts';

/** Version 1.1.0. Version 1.0.0 knows none of this, and still serves meanwhile: it removes a domain without its links. */
export const up = (db: Kysely<unknown>): Promise<void> => {
  const { id, text, integer } = columnsFor(db);
  return createTableOnce(db, 'domain_shares', {
    columns: {
      id: primary(id),
      account_id: id,
      domain_id: id,
      secret_hash: unique(text(64)),
      created_at: integer,
      ends_at: integer,
    },
    foreignKeys: { domain_shares_domain: ['domain_id', 'domains'] },
    indexes: {
      domain_shares_by_domain: ['domain_id', 'ends_at'],
      domain_shares_by_end: ['ends_at'],
    },
  });
};
