import type { Kysely } from 'kysely';
import type { Database } from './database.ts';
import type { Schema } from './schema.ts';

/**
 * Rivals of one account wait here for each other, whatever their projects. First in its transaction: whoever locks
 * an account and a project locks the account first. SQLite has one writer at a time anyway.
 * @returns whether there is such an account
 */
export const lockAccount = async (
  { kind }: Database,
  db: Kysely<Schema>,
  accountId: string,
): Promise<boolean> => {
  const row = await db
    .selectFrom('accounts')
    .select('id')
    .where('id', '=', accountId)
    .$if(kind === 'mysql', (query) => query.forUpdate())
    .executeTakeFirst();
  return row !== undefined;
};
