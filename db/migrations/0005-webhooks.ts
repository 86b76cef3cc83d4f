import type { Kysely } from 'kysely';
import { columnsFor, createTableOnce, maybe, primary } from '../tables.ts';

type Db = Kysely<unknown>;

/** Version 1.1.0. Version 1.0.0 knows none of this, and still serves meanwhile. */
export const up = async (db: Db): Promise<void> => {
  await webhooks(db);
  await deliveries(db);
  await attempts(db);
};

const webhooks = (db: Db): Promise<void> => {
  const { id, text, longText, integer } = columnsFor(db);
  return createTableOnce(db, 'webhooks', {
    columns: {
      id: primary(id),
      account_id: id,
      address: text(2000),
      kinds: longText,
      created_at: integer,
      old_secrets_until: maybe(integer),
      state: text(16),
      failing_since: maybe(integer),
      is_slow: maybe(integer),
      reason: maybe(text(16)),
      off_since: maybe(integer),
      secrets: longText,
      sealed_by: text(16),
    },
    foreignKeys: { webhooks_account: ['account_id', 'accounts'] },
    indexes: {
      webhooks_by_account: ['account_id', 'id'],
      webhooks_by_reason: ['reason'],
      webhooks_sealed_by: ['sealed_by'],
    },
  });
};

/** Without a foreign key to the webhook: what was sent to one that was removed ages as the rest. */
const deliveries = (db: Db): Promise<void> => {
  const { id, text, longText, integer } = columnsFor(db);
  return createTableOnce(db, 'webhook_deliveries', {
    columns: {
      id: primary(id),
      webhook_id: id,
      account_id: id,
      message_id: id,
      type: text(64),
      body: longText,
      added_at: integer,
      begun_at: integer,
      failures: integer,
      state: text(16),
      next_at: maybe(integer),
      receiver: text(300),
      is_slow: integer,
      claim: maybe(id),
    },
    unique: { webhook_deliveries_once: ['webhook_id', 'message_id'] },
    foreignKeys: { webhook_deliveries_account: ['account_id', 'accounts'] },
    indexes: {
      webhook_deliveries_due: ['is_slow', 'next_at'],
      webhook_deliveries_by_webhook: ['webhook_id', 'id'],
      webhook_deliveries_waiting: ['webhook_id', 'next_at'],
      webhook_deliveries_by_age: ['begun_at'],
    },
  });
};

const attempts = (db: Db): Promise<void> => {
  const { id, text, longText, integer, assigned } = columnsFor(db);
  return createTableOnce(db, 'webhook_attempts', {
    columns: {
      id: assigned,
      delivery_id: id,
      at: integer,
      took_ms: integer,
      status: maybe(integer),
      why: maybe(text(16)),
      answer: longText,
    },
    indexes: {
      webhook_attempts_by_delivery: ['delivery_id', 'id'],
      webhook_attempts_by_age: ['at'],
    },
  });
};
