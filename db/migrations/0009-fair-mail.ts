import type { Kysely } from 'kysely';
import { addColumnOnce, columnsFor, createIndexOnce, maybe } from '../tables.ts';

/** Version 1.1.0. Version 1.0.0 knows none of these tables, and still serves meanwhile. */
export const up = async (db: Kysely<unknown>): Promise<void> => {
  const { text, integer } = columnsFor(db);
  await addColumnOnce(db, 'mails', 'until', maybe(integer));
  await createIndexOnce(db, 'mails', 'mails_due_by_subject', ['subject', 'due_at']);
  await createIndexOnce(db, 'mails', 'mails_by_time', ['send_at']);
  await createIndexOnce(db, 'mail_troubles', 'mail_troubles_by_age', ['since']);
  await addColumnOnce(db, 'mail_requests', 'source', maybe(text(100)));
  await addColumnOnce(db, 'mail_requests', 'device', maybe(text(400)));
};
