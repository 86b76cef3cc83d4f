import { sql, type Kysely } from 'kysely';
import { columnsFor, createIndexOnce } from '../columns.ts';

export const up = async (db: Kysely<unknown>): Promise<void> => {
  const { id, text, longText, integer, assigned, finish } = columnsFor(db);
  const { schema } = db;

  await finish(
    schema
      .createTable('accounts')
      .ifNotExists()
      .addColumn('id', id, (c) => c.primaryKey().notNull())
      .addColumn('name', text(400), (c) => c.notNull())
      .addColumn('email', text(254), (c) => c.notNull().unique())
      .addColumn('plan', text(16), (c) => c.notNull())
      .addColumn('per_minute', integer)
      .addColumn('per_day', integer)
      .addColumn('created_at', integer, (c) => c.notNull()),
  ).execute();

  await finish(
    schema
      .createTable('api_keys')
      .ifNotExists()
      .addColumn('id', id, (c) => c.primaryKey().notNull())
      .addColumn('account_id', id, (c) => c.notNull())
      .addColumn('name', text(400), (c) => c.notNull())
      .addColumn('hint', text(40), (c) => c.notNull())
      .addColumn('scopes', text(255), (c) => c.notNull())
      .addColumn('created_at', integer, (c) => c.notNull())
      .addColumn('expires_at', integer)
      .addColumn('revoked_at', integer)
      .addColumn('last_used_at', integer)
      .addColumn('banned_at', integer)
      .addColumn('banned_until', integer)
      .addColumn('ban_minutes', integer)
      .addForeignKeyConstraint('api_keys_account', ['account_id'], 'accounts', ['id']),
  ).execute();
  await createIndexOnce(db, 'api_keys_by_account', 'api_keys', ['account_id', 'created_at']);

  await finish(
    schema
      .createTable('api_key_secrets')
      .ifNotExists()
      .addColumn('secret_hash', text(64), (c) => c.primaryKey().notNull())
      .addColumn('key_id', id, (c) => c.notNull())
      .addColumn('ends_at', integer)
      .addForeignKeyConstraint('api_key_secrets_key', ['key_id'], 'api_keys', ['id']),
  ).execute();
  await createIndexOnce(db, 'api_key_secrets_by_key', 'api_key_secrets', ['key_id']);

  await finish(
    schema
      .createTable('quota_counters')
      .ifNotExists()
      .addColumn('subject', text(100), (c) => c.primaryKey().notNull())
      .addColumn('data', text(1000), (c) => c.notNull())
      .addColumn('saved_at', integer, (c) => c.notNull()),
  ).execute();
  await createIndexOnce(db, 'quota_counters_by_age', 'quota_counters', ['saved_at']);

  await finish(
    schema
      .createTable('usage_hours')
      .ifNotExists()
      .addColumn('account_id', id, (c) => c.notNull())
      .addColumn('hour', integer, (c) => c.notNull())
      .addColumn('key_id', id, (c) => c.notNull())
      .addColumn('operation', text(32), (c) => c.notNull())
      .addColumn('outcome', text(16), (c) => c.notNull())
      .addColumn('requests', integer, (c) => c.notNull())
      .addPrimaryKeyConstraint('usage_hours_pk', [
        'account_id',
        'hour',
        'key_id',
        'operation',
        'outcome',
      ]),
  ).execute();
  await createIndexOnce(db, 'usage_hours_by_age', 'usage_hours', ['hour']);

  await finish(
    schema
      .createTable('pets')
      .ifNotExists()
      .addColumn('id', assigned)
      .addColumn('account_id', id, (c) => c.notNull())
      .addColumn('name', text(255), (c) => c.notNull())
      .addColumn('category_id', integer, (c) => c.notNull())
      .addColumn('status', text(16), (c) => c.notNull())
      .addForeignKeyConstraint('pets_account', ['account_id'], 'accounts', ['id']),
  ).execute();
  await createIndexOnce(db, 'pets_by_account', 'pets', ['account_id', 'id']);
  await createIndexOnce(db, 'pets_by_status', 'pets', ['account_id', 'status', 'id']);

  await finish(
    schema
      .createTable('orders')
      .ifNotExists()
      .addColumn('id', assigned)
      .addColumn('account_id', id, (c) => c.notNull())
      .addColumn('pet_id', integer, (c) => c.notNull().unique())
      .addColumn('quantity', integer, (c) => c.notNull())
      .addColumn('ship_date', integer, (c) => c.notNull())
      .addColumn('status', text(16), (c) => c.notNull())
      .addForeignKeyConstraint('orders_account', ['account_id'], 'accounts', ['id'])
      .addForeignKeyConstraint('orders_pet', ['pet_id'], 'pets', ['id']),
  ).execute();
  await createIndexOnce(db, 'orders_by_account', 'orders', ['account_id', 'id']);

  await finish(
    schema
      .createTable('idempotency_keys')
      .ifNotExists()
      .addColumn('account_id', id, (c) => c.notNull())
      .addColumn('idempotency_key', text(255), (c) => c.notNull())
      .addColumn('fingerprint', text(64), (c) => c.notNull())
      .addColumn('answer', longText, (c) => c.notNull())
      .addColumn('created_at', integer, (c) => c.notNull())
      .addPrimaryKeyConstraint('idempotency_keys_pk', ['account_id', 'idempotency_key']),
  ).execute();
  await createIndexOnce(db, 'idempotency_keys_by_age', 'idempotency_keys', ['created_at']);

  await finish(
    schema
      .createTable('projects')
      .ifNotExists()
      .addColumn('id', id, (c) => c.primaryKey().notNull())
      .addColumn('account_id', id, (c) => c.notNull())
      .addColumn('name', text(400), (c) => c.notNull())
      .addColumn('slug', text(63), (c) => c.notNull().unique())
      .addColumn('created_at', integer, (c) => c.notNull())
      .addForeignKeyConstraint('projects_account', ['account_id'], 'accounts', ['id']),
  ).execute();

  await finish(
    schema
      .createTable('events')
      .ifNotExists()
      .addColumn('id', id, (c) => c.primaryKey().notNull())
      .addColumn('account_id', id, (c) => c.notNull())
      .addColumn('type', text(64), (c) => c.notNull())
      .addColumn('details', longText, (c) => c.notNull())
      .addColumn('occurred_at', integer, (c) => c.notNull()),
  ).execute();
  await createIndexOnce(db, 'events_by_age', 'events', ['occurred_at']);

  await finish(
    schema
      .createTable('deliveries')
      .ifNotExists()
      .addColumn('id', assigned)
      .addColumn('event_id', id, (c) => c.notNull())
      .addColumn('subscriber', text(64), (c) => c.notNull())
      .addColumn('attempts', integer, (c) => c.notNull())
      .addColumn('due_at', integer, (c) => c.notNull())
      .addColumn('parked', integer, (c) => c.notNull().defaultTo(sql`0`))
      .addColumn('claim', id)
      .addColumn('problem', longText)
      .addForeignKeyConstraint('deliveries_event', ['event_id'], 'events', ['id']),
  ).execute();
  await createIndexOnce(db, 'deliveries_due', 'deliveries', ['parked', 'due_at']);
  await createIndexOnce(db, 'deliveries_by_claim', 'deliveries', ['claim']);
  await createIndexOnce(db, 'deliveries_by_event', 'deliveries', ['event_id']);

  await finish(
    schema
      .createTable('audit_log')
      .ifNotExists()
      .addColumn('event_id', id, (c) => c.primaryKey().notNull())
      .addColumn('account_id', id, (c) => c.notNull())
      .addColumn('what', text(64), (c) => c.notNull())
      .addColumn('details', longText, (c) => c.notNull())
      .addColumn('occurred_at', integer, (c) => c.notNull()),
  ).execute();
  await createIndexOnce(db, 'audit_log_by_account', 'audit_log', ['account_id', 'occurred_at']);
};
