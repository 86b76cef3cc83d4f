import { sql, type Kysely } from 'kysely';
import { addColumnOnce, columnsFor, createIndexOnce } from '../columns.ts';

export const up = async (db: Kysely<unknown>): Promise<void> => {
  const { id, text, integer, finish } = columnsFor(db);
  const { schema } = db;

  // Null: the release before wrote it.
  await addColumnOnce(db, 'events', 'actor', text(300));
  await addColumnOnce(db, 'audit_log', 'actor', text(300));
  await createIndexOnce(db, 'orders_by_status', 'orders', ['account_id', 'status', 'id']);

  await finish(
    schema
      .createTable('people')
      .ifNotExists()
      .addColumn('id', id, (c) => c.primaryKey().notNull())
      .addColumn('account_id', id, (c) => c.notNull())
      .addColumn('email', text(254), (c) => c.notNull().unique())
      .addColumn('password_hash', text(255))
      .addColumn('created_at', integer, (c) => c.notNull())
      .addForeignKeyConstraint('people_account', ['account_id'], 'accounts', ['id']),
  ).execute();
  await createIndexOnce(db, 'people_by_account', 'people', ['account_id', 'created_at', 'id']);

  await finish(
    schema
      .createTable('sessions')
      .ifNotExists()
      .addColumn('id', id, (c) => c.primaryKey().notNull())
      .addColumn('person_id', id, (c) => c.notNull())
      .addColumn('secret_hash', text(64), (c) => c.notNull().unique())
      .addColumn('way', text(16), (c) => c.notNull())
      .addColumn('browser', text(200), (c) => c.notNull())
      .addColumn('started_at', integer, (c) => c.notNull())
      .addColumn('ends_at', integer, (c) => c.notNull())
      .addForeignKeyConstraint('sessions_person', ['person_id'], 'people', ['id']),
  ).execute();
  await createIndexOnce(db, 'sessions_by_person', 'sessions', ['person_id', 'started_at', 'id']);
  await createIndexOnce(db, 'sessions_by_end', 'sessions', ['ends_at']);

  await finish(
    schema
      .createTable('sign_in_links')
      .ifNotExists()
      .addColumn('secret_hash', text(64), (c) => c.primaryKey().notNull())
      .addColumn('person_id', id, (c) => c.notNull())
      .addColumn('ends_at', integer, (c) => c.notNull())
      .addForeignKeyConstraint('sign_in_links_person', ['person_id'], 'people', ['id']),
  ).execute();
  await createIndexOnce(db, 'sign_in_links_by_person', 'sign_in_links', ['person_id']);
  await createIndexOnce(db, 'sign_in_links_by_end', 'sign_in_links', ['ends_at']);

  await letOwnersSignIn(db);
};

/**
 * The owner of each account is the first who can sign in, under an id that is the account's own but for its prefix.
 * Accounts that the release before opens afterwards have nobody until somebody is invited.
 */
const letOwnersSignIn = async (db: Kysely<unknown>): Promise<void> => {
  await sql`
    insert into people (id, account_id, email, created_at)
    select replace(accounts.id, 'acct_', 'pers_'), accounts.id, accounts.email, accounts.created_at
    from accounts
    left join people as own on own.account_id = accounts.id
    left join people as namesake on namesake.email = accounts.email
    where own.id is null and namesake.id is null
  `.execute(db);
};
