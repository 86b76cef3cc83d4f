import type { Selectable } from 'kysely';
import type { Sealer } from '../../../kernel/sealer.ts';
import {
  type WebhookSecrets,
  isSlow,
  type Webhook,
} from '../../../notifications/domain/webhook.ts';
import { receiverOf } from '../../../notifications/domain/destination.ts';
import type { Queries } from '../database.ts';
import { open, seal } from '../sealed-columns.ts';
import type { Schema } from '../schema.ts';
import { parseStored } from '../column.ts';
import { kindsColumn, storedSecrets, webhookRow } from './webhook-rows.ts';

type Row = Selectable<Schema['webhooks']>;
export type SealedSecrets = Pick<Row, 'secrets' | 'sealed_by'>;

export const sealedSecrets = (
  sealer: Sealer,
  id: string,
  secrets: WebhookSecrets,
): SealedSecrets => {
  const { sealed, sealed_by } = seal(sealer, 'webhooks', id, JSON.stringify(secrets));
  return { secrets: sealed, sealed_by };
};

/** @throws Error when they were sealed under a key that this process does not have */
export const openedSecrets = (
  sealer: Sealer,
  id: string,
  { secrets: sealed, sealed_by }: SealedSecrets,
): WebhookSecrets =>
  parseStored(storedSecrets, open(sealer, 'webhooks', id, { sealed, sealed_by }));

/**
 * Within a transaction that holds the lock on the webhook: stores it, with what that means for waiting deliveries.
 */
export const saveWebhook = async (
  db: Queries,
  { before, after }: { readonly before: Row; readonly after: Webhook },
  secrets: Partial<SealedSecrets> = {},
): Promise<void> => {
  const { id, address, kinds, status } = after;
  await db
    .updateTable('webhooks')
    .set({ ...webhookRow(after), kinds: kindsColumn(before.kinds, kinds), ...secrets })
    .where('id', '=', id)
    .execute();
  if (status.state === 'off') await cancelWaiting(db, id);
  else if (address !== before.address || isSlow(after) !== (before.is_slow === 1n)) {
    const lane = { receiver: receiverOf(address), is_slow: isSlow(after) ? 1n : 0n };
    await waitingOf(db, id).set(lane).execute();
  }
};

/** An attempt under way keeps its claim, so that its outcome is still stored. */
export const cancelWaiting = async (db: Queries, webhookId: string): Promise<void> => {
  await waitingOf(db, webhookId).set({ state: 'cancelled', next_at: null }).execute();
};

const waitingOf = (db: Queries, webhookId: string) =>
  db
    .updateTable('webhook_deliveries')
    .where('webhook_id', '=', webhookId)
    .where('next_at', 'is not', null);
