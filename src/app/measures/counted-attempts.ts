import type { Tally } from '../../adapters/http/metrics/measures.ts';
import {
  isSuccess,
  failedWhys,
  type Outcome,
} from '../../notifications/domain/webhook-delivery.ts';
import type { WebhookCalls } from '../../notifications/notifications.ts';

type Attempt = WebhookCalls['attemptDelivery'];

export const attemptOutcomes = ['succeeded', 'rejected', ...failedWhys] as const;

/** The same attempts, counted by their outcome. */
export const countedAttempts = (metrics: Tally, attempt: Attempt): Attempt => {
  for (const outcome of attemptOutcomes) {
    metrics.count('webhook_attempts_total', { outcome }, 0);
  }
  return async (claimed, signal) => {
    const attempted = await attempt(claimed, signal);
    const { outcome } = attempted;
    if (outcome) metrics.count('webhook_attempts_total', { outcome: wordOf(outcome) });
    return attempted;
  };
};

const wordOf = (outcome: Outcome): (typeof attemptOutcomes)[number] => {
  if (outcome.kind === 'failed') return outcome.why;
  return isSuccess(outcome) ? 'succeeded' : 'rejected';
};
