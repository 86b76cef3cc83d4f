import { about, mustBeOn, switchOff, type Webhook, type WebhookEvent } from './webhook.ts';
import { minuteMs, hourMs } from '../../kernel/durations.ts';

const second = 1000;

/** Waits after each failure, as Standard Webhooks recommends. After the last one, we give up. */
export const waits: readonly number[] = [
  ...[5 * second, 5 * minuteMs, 30 * minuteMs],
  ...[2, 5, 10, 14, 20, 24].map((hours) => hours * hourMs),
];

/** A repeated delivery keeps this many of its earlier attempts. */
export const attemptsOfOnce = waits.length + 1;

/** Waits are longer by up to this share, so that deliveries that failed together do not retry together. */
const jitter = 0.1;

const longestWait = Math.max(...waits) * (1 + jitter);

/** @param chance from 0 to 1 */
export const waitAfter = (failures: number, chance: number): number | undefined => {
  const wait = waits[failures - 1];
  return wait === undefined ? undefined : Math.round(wait * (1 + jitter * chance));
};

export type Outcome =
  | {
      readonly kind: 'answered';
      readonly status: number;
      readonly beginning: string;
      readonly tookMs: number;
    }
  | {
      readonly kind: 'failed';
      readonly why: FailedWhy;
      readonly explanation: string;
      readonly tookMs: number;
    };

export const failedWhys = [
  'not_public',
  'not_found',
  'refused',
  'reset',
  'timeout',
  'tls',
  'too_large',
  'unreadable',
  'unsigned',
  'stopped',
] as const;
export type FailedWhy = (typeof failedWhys)[number];

export type Attempt = Outcome & { readonly at: Date };

export const deliveryStates = ['waiting', 'delivered', 'given_up', 'cancelled'] as const;

export type DeliveryProgress =
  /** The time of the next attempt; during an attempt, the end of the lease. */
  | { readonly state: 'waiting'; readonly nextAt: Date }
  | { readonly state: 'delivered' }
  | { readonly state: 'given_up' }
  | { readonly state: 'cancelled' };

export interface WebhookDelivery {
  readonly id: string;
  readonly webhookId: string;
  readonly accountId: string;
  /** `webhook-id`: the same for all attempts and repetitions. */
  readonly messageId: string;
  /** A kind or `test.ping`, including those of newer versions. */
  readonly type: string;
  readonly body: string;
  readonly addedAt: Date;
  readonly failures: number;
  readonly progress: DeliveryProgress;
}

export const slowMs = 1000;

export interface Settlement {
  readonly delivery: WebhookDelivery;
  readonly webhook: Webhook | undefined;
  readonly events: readonly WebhookEvent[];
}

interface Attempted {
  readonly delivery: WebhookDelivery;
  readonly webhook: Webhook | undefined;
}

export const isSuccess = (outcome: Outcome): boolean =>
  outcome.kind === 'answered' && outcome.status >= 200 && outcome.status < 300;

interface Asked {
  /** The address that was called. Its answer says nothing about a new one. */
  readonly address: string | undefined;
  /** From 0 to 1. */
  readonly chance: number;
}

export const settle = (
  { delivery, webhook }: Attempted,
  attempt: Attempt,
  { address, chance }: Asked,
): Settlement => {
  const isMoved = webhook?.address !== address;
  const after = isMoved ? { webhook, events: [] } : webhookAfter(webhook, attempt);
  if (isSuccess(attempt)) {
    return { delivery: { ...delivery, progress: { state: 'delivered' } }, ...after };
  }
  const failures = delivery.failures + 1;
  const wait = waitAfter(failures, chance);
  const progress = progressAfter(wait, after.webhook, attempt);
  return { delivery: { ...delivery, failures, progress }, ...after };
};

export const isAttempt = (outcome: Outcome): boolean =>
  outcome.kind === 'answered' || outcome.why !== 'stopped';

/** The result of a claim without an attempt: due now, unless the webhook is off or removed. */
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
  wait: number | undefined,
  webhook: Webhook | undefined,
  { at, tookMs }: Attempt,
): DeliveryProgress => {
  if (webhook?.status.state !== 'on') return { state: 'cancelled' };
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

/** The outcome counts as an attempt, but says nothing about the receiver. */
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
  /** Restarts the retention time. */
  readonly begunAt: Date;
  readonly events: readonly WebhookEvent[];
}

/** Restarts all attempts of a delivery. @throws DomainError `webhook_off` */
export const repeat = (delivery: WebhookDelivery, webhook: Webhook, now: Date): Repetition => ({
  delivery: { ...delivery, failures: 0, progress: { state: 'waiting', nextAt: now } },
  begunAt: now,
  events: [{ type: 'webhook_repeated', ...about(mustBeOn(webhook), now), deliveryId: delivery.id }],
});

export const longestFailingMs = 5 * 24 * hourMs;

/** The longest time between two attempts. In longer pauses nothing was due, so they do not count. */
export const longestPauseMs = longestWait + hourMs;

export interface Failing {
  readonly failingSince: Date;
  readonly failedAt: Date;
}

type Maybe<Fields> = { readonly [Name in keyof Fields]: Fields[Name] | undefined };

/** @param at of the new failure; attempts may end in another order than they started */
const failingAfter = (failing: Maybe<Failing>, at: Date): Failing => {
  const { failingSince = at, failedAt = at } = failing;
  const wait = at.getTime() - failedAt.getTime();
  const pause = wait > longestPauseMs ? wait : 0;
  return {
    failingSince: new Date(failingSince.getTime() + pause),
    failedAt: at > failedAt ? at : failedAt,
  };
};

/** Without pauses: a receiver that is called once a week has not failed for five days after two calls. */
export const failedForMs = ({ failingSince, failedAt }: Failing): number =>
  failedAt.getTime() - failingSince.getTime();

const isHopeless = (failing: Failing): boolean => failedForMs(failing) >= longestFailingMs;
