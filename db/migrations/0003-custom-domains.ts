import { sql, type Kysely } from 'kysely';
import { addColumnOnce, columnsFor, createIndexOnce } from '../columns.ts';

export const up = async (db: Kysely<unknown>): Promise<void> => {
  const { id, text, longText, integer, assigned, finish } = columnsFor(db);
  const { schema } = db;

  await addColumnOnce(db, 'routes', 'redirect_to', text(2000));
  await addColumnOnce(db, 'routes', 'redirect_status', integer);
  await createIndexOnce(db, 'routes_by_project', 'routes', ['project_id']);
  await addColumnOnce(db, 'projects', 'domain_settings', longText);

  // Two columns that are null where a name does not have to be unique: MySQL has no partial indexes.
  await finish(
    schema
      .createTable('domains')
      .ifNotExists()
      .addColumn('id', id, (c) => c.primaryKey().notNull())
      .addColumn('account_id', id, (c) => c.notNull())
      .addColumn('project_id', id, (c) => c.notNull())
      .addColumn('host', text(253), (c) => c.notNull())
      .addColumn('attached_host', text(253))
      .addColumn('proven_host', text(253), (c) => c.unique())
      .addColumn('unicode_host', text(253), (c) => c.notNull())
      .addColumn('token', text(63), (c) => c.notNull().unique())
      .addColumn('state', text(16), (c) => c.notNull())
      .addColumn('generation', integer, (c) => c.notNull())
      .addColumn('added_at', integer, (c) => c.notNull())
      .addColumn('details', longText, (c) => c.notNull())
      .addColumn('due_at', integer)
      .addColumn('claim', id)
      .addColumn('claimed_until', integer)
      .addUniqueConstraint('domains_attached', ['project_id', 'attached_host'])
      .addForeignKeyConstraint('domains_project', ['project_id'], 'projects', ['id']),
  ).execute();
  await createIndexOnce(db, 'domains_by_account', 'domains', ['account_id', 'added_at']);
  await createIndexOnce(db, 'domains_by_host', 'domains', ['project_id', 'host', 'added_at']);
  await createIndexOnce(db, 'domains_by_project', 'domains', ['project_id', 'added_at', 'id']);
  await createIndexOnce(db, 'domains_by_state', 'domains', ['state', 'id']);
  await createIndexOnce(db, 'domains_due', 'domains', ['due_at', 'id']);
  await createIndexOnce(db, 'domains_by_claim', 'domains', ['claim']);

  await finish(
    schema
      .createTable('domain_timeline')
      .ifNotExists()
      .addColumn('id', assigned)
      .addColumn('domain_id', id, (c) => c.notNull())
      .addColumn('kind', text(32), (c) => c.notNull())
      .addColumn('details', longText, (c) => c.notNull())
      .addColumn('occurred_at', integer, (c) => c.notNull()),
  ).execute();
  await createIndexOnce(db, 'domain_timeline_by_domain', 'domain_timeline', ['domain_id', 'id']);
  await createIndexOnce(db, 'domain_timeline_by_age', 'domain_timeline', ['occurred_at']);

  await finish(
    schema
      .createTable('certificate_orders')
      .ifNotExists()
      .addColumn('subject', text(300), (c) => c.primaryKey().notNull())
      .addColumn('host', text(253), (c) => c.notNull())
      .addColumn('private_key', longText, (c) => c.notNull())
      .addColumn('url', text(1000))
      .addColumn('token', text(255))
      .addColumn('key_authorization', text(1000)),
  ).execute();
  await createIndexOnce(db, 'certificate_orders_by_token', 'certificate_orders', ['token']);

  await finish(
    schema
      .createTable('authority_accounts')
      .ifNotExists()
      .addColumn('directory_url', text(500), (c) => c.primaryKey().notNull())
      .addColumn('url', text(1000), (c) => c.notNull())
      .addColumn('private_key', longText, (c) => c.notNull()),
  ).execute();

  await finish(
    schema
      .createTable('authority_ledger')
      .ifNotExists()
      .addColumn('id', assigned)
      .addColumn('kind', text(16), (c) => c.notNull())
      .addColumn('host', text(253), (c) => c.notNull())
      .addColumn('registrable_domain', text(253), (c) => c.notNull())
      .addColumn('is_manual', integer, (c) => c.notNull())
      .addColumn('occurred_at', integer, (c) => c.notNull()),
  ).execute();
  await createIndexOnce(db, 'authority_ledger_by_age', 'authority_ledger', ['occurred_at']);
  await createIndexOnce(db, 'authority_ledger_by_kind', 'authority_ledger', [
    'kind',
    'occurred_at',
  ]);
  const byHost = ['host', 'kind', 'occurred_at'];
  await createIndexOnce(db, 'authority_ledger_by_host', 'authority_ledger', byHost);
  const byDomain = ['registrable_domain', 'kind', 'occurred_at'];
  await createIndexOnce(db, 'authority_ledger_by_domain', 'authority_ledger', byDomain);

  // One row that is locked while an order is counted and entered, so that rivals cannot both take the last one.
  await finish(
    schema
      .createTable('authority_turn')
      .ifNotExists()
      .addColumn('id', integer, (c) => c.primaryKey().notNull())
      .addColumn('turn', integer, (c) => c.notNull()),
  ).execute();
  const { rows } = await sql`select id from authority_turn`.execute(db);
  if (rows.length > 0) return;
  await sql`insert into authority_turn (id, turn) values (1, 0)`.execute(db);
};
