import type { Attempt, WebhookDelivery } from '../../../notifications/domain/webhook-delivery.ts';
import { present } from '../column.ts';
import { webhookAttempts, webhookDeliveries } from './tables.ts';

const ofDelivery = webhookDeliveries.without('begunAt', 'receiver', 'isSlow', 'claim');
type Row = Parameters<typeof ofDelivery.read>[0];
const ofAttempt = webhookAttempts.without('id');
type AttemptRow = Parameters<typeof ofAttempt.read>[0];

export const deliveryFrom = (row: Row): WebhookDelivery => {
  const { state, nextAt, ...delivery } = ofDelivery.read(row);
  const progress = state === 'waiting' ? { state, nextAt: present('next_at', nextAt) } : { state };
  return { ...delivery, progress };
};

export const deliveryRow = ({ progress, ...delivery }: WebhookDelivery): Row =>
  ofDelivery.write({ ...delivery, nextAt: undefined, ...progress });

export const attemptRow = (deliveryId: string, attempt: Attempt): AttemptRow => {
  const common = { deliveryId, at: attempt.at, tookMs: Math.round(attempt.tookMs) };
  switch (attempt.kind) {
    case 'answered': {
      const { status, beginning: answer } = attempt;
      return ofAttempt.write({ ...common, status, why: undefined, answer });
    }
    case 'failed': {
      const { why, explanation: answer } = attempt;
      return ofAttempt.write({ ...common, status: undefined, why, answer });
    }
  }
};

export const attemptFrom = (row: AttemptRow): Attempt => {
  const { at, tookMs, status, why, answer } = ofAttempt.read(row);
  return status === undefined
    ? { at, tookMs, kind: 'failed', why: present('why', why), explanation: answer }
    : { at, tookMs, kind: 'answered', status, beginning: answer };
};
