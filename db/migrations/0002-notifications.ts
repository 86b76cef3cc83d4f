import type { Kysely } from 'kysely';
import { addColumnOnce, columnsFor, createTableOnce, maybe, unique } from '../tables.ts';

type Db = Kysely<unknown>;

/** Version 1.1.0. Version 1.0.0 knows none of this, and still serves meanwhile. */
export const up = async (db: Db): Promise<void> => {
  await notices(db);
  await addColumnOnce(db, 'people', 'notices_seen', maybe(columnsFor(db).integer));
};

const notices = (db: Db): Promise<void> => {
  const { id, text, longText, integer, assigned } = columnsFor(db);
  return createTableOnce(db, 'notices', {
    columns: {
      id: assigned,
      event_id: unique(id),
      account_id: id,
      kind: text(64),
      about: longText,
      occurred_at: integer,
    },
    foreignKeys: { notices_account: ['account_id', 'accounts'] },
    indexes: { notices_by_account: ['account_id', 'id'], notices_by_age: ['occurred_at'] },
  });
};
