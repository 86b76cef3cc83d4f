import type { Kysely } from 'kysely';
import { addColumnOnce, columnsFor, maybe } from '../tables.ts';

/** Version 1.1.0. What version 1.0.0 still stores meanwhile has null here, which excuses nobody from the current password. */
export const up = async (db: Kysely<unknown>): Promise<void> => {
  const flag = maybe(columnsFor(db).integer);
  await addColumnOnce(db, 'sign_in_links', 'resets_password', flag);
  await addColumnOnce(db, 'sessions', 'resets_password', flag);
};
