import type { Kysely } from 'kysely';
import { addColumnOnce, columnsFor, createIndexOnce } from '../columns.ts';

/** What is shared out among accounts: orders at the authority, projects. */
export const up = async (db: Kysely<unknown>): Promise<void> => {
  const { id } = columnsFor(db);
  await addColumnOnce(db, 'authority_ledger', 'account_id', id);
  const byAccount = ['account_id', 'kind', 'occurred_at'];
  await createIndexOnce(db, 'authority_ledger_by_account', 'authority_ledger', byAccount);
  await createIndexOnce(db, 'projects_by_account', 'projects', ['account_id', 'created_at', 'id']);
};
