import type { Selectable } from 'kysely';
import type { Database } from './database.ts';
import type { Schema } from './schema.ts';

type LockableTable =
  | 'accounts'
  | 'api_keys'
  | 'domains'
  | 'mail_requests'
  | 'people'
  | 'projects'
  | 'webhook_deliveries'
  | 'webhooks';

/**
 * Within a transaction: until it ends, no other transaction changes, removes or locks the row. SQLite has one writer at a
 * time anyway. Accounts are always locked before projects.
 */
export const lockedRow = async <Table extends LockableTable>(
  { db, engine }: Database,
  table: Table,
  id: string,
): Promise<Selectable<Schema[Table]> | undefined> => {
  const row = await db
    .selectFrom<LockableTable>(table)
    .selectAll()
    .where('id', '=', id)
    .$call(engine.locked)
    .executeTakeFirst();
  return row as Selectable<Schema[Table]> | undefined;
};
