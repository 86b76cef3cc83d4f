import type { WebhookEvent } from './webhook-event.ts';
import type { Attempt, DeliveryProgress, Outcome, WebhookDelivery } from './delivery.ts';
import { failingAfter, isHopeless, type Failing } from './failing.ts';
import { waitAfter } from './waits.ts';
import { about, mustBeOn, switchOff, type Webhook } from './webhook.ts';

/** An answer that takes longer is slow, and so is none. */
export const slowMs = 1000;

/** What an attempt leads to. Both are stored together, with the attempt. */
export interface Settlement {
  readonly delivery: WebhookDelivery;
  readonly webhook: Webhook | undefined;
  readonly events: readonly WebhookEvent[];
}

interface Attempted {
  readonly delivery: WebhookDelivery;
  /** As it is now; undefined if it was removed meanwhile. */
  readonly webhook: Webhook | undefined;
}

export const isSuccess = (outcome: Outcome): boolean =>
  outcome.kind === 'answered' && outcome.status >= 200 && outcome.status < 300;

/** @param asked the address that was called; what it did says nothing about another one */
export const settle = (
  { delivery, webhook }: Attempted,
  attempt: Attempt,
  asked: string | undefined,
): Settlement => {
  const isMoved = webhook?.address !== asked;
  const after = isMoved ? { webhook, events: [] } : webhookAfter(webhook, attempt);
  if (isSuccess(attempt)) {
    return { delivery: { ...delivery, progress: { state: 'delivered' } }, ...after };
  }
  const failures = delivery.failures + 1;
  const progress = progressAfter({ ...delivery, failures }, after.webhook, attempt);
  return { delivery: { ...delivery, failures, progress }, ...after };
};

/** Whether it says something about the receiver. An attempt that we broke off because we stopped does not. */
export const isAttempt = (outcome: Outcome): boolean =>
  outcome.kind === 'answered' || outcome.why !== 'stopped';

/** What a claim without an attempt leads to: it is due now, unless the webhook was switched off or removed. */
export const withoutAttempt = ({ delivery, webhook }: Attempted, now: Date): Settlement => {
  const progress = progressWithout({ delivery, webhook }, now);
  return { delivery: { ...delivery, progress }, webhook, events: [] };
};

const progressWithout = ({ delivery, webhook }: Attempted, now: Date): DeliveryProgress => {
  if (webhook?.status.state !== 'on') return { state: 'cancelled' };
  return delivery.progress.state === 'waiting'
    ? { state: 'waiting', nextAt: now }
    : delivery.progress;
};

const progressAfter = (
  { id, failures }: WebhookDelivery,
  webhook: Webhook | undefined,
  { at, tookMs }: Attempt,
): DeliveryProgress => {
  if (webhook?.status.state !== 'on') return { state: 'cancelled' };
  const wait = waitAfter(failures, id);
  if (wait === undefined) return { state: 'given_up' };
  return { state: 'waiting', nextAt: new Date(at.getTime() + tookMs + wait) };
};

const webhookAfter = (
  webhook: Webhook | undefined,
  attempt: Attempt,
): Pick<Settlement, 'webhook' | 'events'> => {
  if (webhook?.status.state !== 'on' || isOurFault(attempt)) return { webhook, events: [] };
  const { at, tookMs } = attempt;
  const failing = isSuccess(attempt) ? undefined : failingAfter(webhook.status, at);
  const reason = offReason(attempt, failing);
  if (reason) {
    const { state, events } = switchOff(webhook, reason, at);
    return { webhook: state, events };
  }
  const { failingSince, failedAt } = failing ?? {};
  const status: On = { state: 'on', failingSince, failedAt, isSlow: tookMs > slowMs };
  return { webhook: isSame(status, webhook.status) ? webhook : { ...webhook, status }, events: [] };
};

/** It counts among the attempts, but says nothing about the receiver. */
const isOurFault = (outcome: Outcome): boolean =>
  outcome.kind === 'failed' && outcome.why === 'unsigned';

type On = Extract<Webhook['status'], { state: 'on' }>;

const isSame = (one: On, other: On): boolean =>
  one.isSlow === other.isSlow &&
  one.failingSince?.getTime() === other.failingSince?.getTime() &&
  one.failedAt?.getTime() === other.failedAt?.getTime();

const offReason = (attempt: Attempt, failing: Failing | undefined) => {
  if (attempt.kind === 'answered' && attempt.status === 410) return 'gone';
  return failing && isHopeless(failing) ? 'failing' : undefined;
};

export interface Repetition {
  readonly delivery: WebhookDelivery;
  /** From then on it is listed for as long as a new one. */
  readonly begunAt: Date;
  readonly events: readonly WebhookEvent[];
}

/** Begins all attempts of a delivery again. @throws DomainError `webhook_off` */
export const repeat = (delivery: WebhookDelivery, webhook: Webhook, now: Date): Repetition => ({
  delivery: { ...delivery, failures: 0, progress: { state: 'waiting', nextAt: now } },
  begunAt: now,
  events: [{ type: 'webhook_repeated', ...about(mustBeOn(webhook), now), deliveryId: delivery.id }],
});
