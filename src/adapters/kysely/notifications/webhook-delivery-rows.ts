import type { Insertable, Selectable } from 'kysely';
import {
  deliveryStates,
  failedWhys,
  type Attempt,
  type DeliveryProgress,
  type WebhookDelivery,
} from '../../../notifications/domain/webhooks/delivery.ts';
import { oneOf, present } from '../column.ts';
import { fromMillis, toMillis, type RowOf, type Schema } from '../schema.ts';

type Row = Selectable<Schema['webhook_deliveries']>;
type AttemptRow = Selectable<Schema['webhook_attempts']>;

export const deliveryFrom = (row: Row): WebhookDelivery => ({
  id: row.id,
  webhookId: row.webhook_id,
  accountId: row.account_id,
  messageId: row.message_id,
  type: row.type,
  body: row.body,
  addedAt: fromMillis(row.added_at),
  failures: Number(row.failures),
  progress: progressFrom(row),
});

const progressFrom = (row: Row): DeliveryProgress => {
  const state = oneOf(deliveryStates, row.state);
  return state === 'waiting'
    ? { state, nextAt: fromMillis(present('next_at', row.next_at)) }
    : { state };
};

export const deliveryRow = ({ progress, ...delivery }: WebhookDelivery) => ({
  ...({
    id: delivery.id,
    webhook_id: delivery.webhookId,
    account_id: delivery.accountId,
    message_id: delivery.messageId,
    type: delivery.type,
    body: delivery.body,
    added_at: toMillis(delivery.addedAt),
    failures: BigInt(delivery.failures),
  } satisfies RowOf<typeof delivery>),
  state: progress.state,
  next_at: progress.state === 'waiting' ? toMillis(progress.nextAt) : null,
});

export const attemptRow = (
  deliveryId: string,
  attempt: Attempt,
): Insertable<Schema['webhook_attempts']> => {
  const row = {
    ...{ delivery_id: deliveryId, at: toMillis(attempt.at) },
    took_ms: BigInt(Math.round(attempt.tookMs)),
  };
  switch (attempt.kind) {
    case 'answered':
      return { ...row, status: BigInt(attempt.status), why: null, answer: attempt.beginning };
    case 'failed':
      return { ...row, status: null, why: attempt.why, answer: attempt.explanation };
  }
};

export const attemptFrom = (row: AttemptRow): Attempt => {
  const common = { at: fromMillis(row.at), tookMs: Number(row.took_ms) };
  if (row.status !== null) {
    const [status, beginning] = [Number(row.status), row.answer];
    return { ...common, kind: 'answered', status, beginning };
  }
  const why = oneOf(failedWhys, present('why', row.why));
  return { ...common, kind: 'failed', why, explanation: row.answer };
};
