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
export const lockedRow = <Table extends LockableTable>(
  database: Database,
  table: Table,
  id: string,
): Promise<Selectable<Schema[Table]> | undefined> => rowLock(database, table)(id);

/** As `lockedRow`, with a statement that is compiled once. */
export const rowLock = <Table extends LockableTable>(
  database: Database,
  table: Table,
): ((id: string) => Promise<Selectable<Schema[Table]> | undefined>) => {
  const lock = database.prepare<{ id: string }, object>((db, the) =>
    db
      .selectFrom<LockableTable>(table)
      .selectAll()
      .where('id', '=', the('id'))
      .$call(database.engine.locked),
  );
  return async (id) => {
    const [row] = await lock({ id });
    return row as Selectable<Schema[Table]> | undefined;
  };
};
