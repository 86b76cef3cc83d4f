import type { Kysely } from 'kysely';
import type { Database } from '../database.ts';
import type { Schema } from '../schema.ts';

/**
 * Serialises changes of one account, across its projects. Call it first in the transaction: accounts are always locked
 * before projects. SQLite has one writer at a time anyway.
 * @returns whether the account exists
 */
export const lockAccount = async (
  { engine }: Database,
  db: Kysely<Schema>,
  accountId: string,
): Promise<boolean> => {
  const row = await db
    .selectFrom('accounts')
    .select('id')
    .where('id', '=', accountId)
    .$call(engine.locked)
    .executeTakeFirst();
  return row !== undefined;
};
