import PQueue from 'p-queue';
import type { Logger } from 'pino';
import { CallsUnderWay, Shared } from '../adapters/schedule/shares.ts';
import type { QueueKind, QueueWorker } from '../adapters/schedule/queue-worker.ts';
import type { DueDomain, DueDomains } from '../domains/ports.ts';
import type { CustomDomain } from '../domains/domain/attachment/custom-domain.ts';
import { dueWork } from '../domains/domain/attachment/due-work.ts';
import { minuteMs } from '../kernel/durations.ts';
import type { Bell } from '../kernel/signals.ts';
import { type Clock, Unavailable } from '../kernel/ports.ts';
import type { StoredEvent } from '../kernel/decision.ts';
import type { Delivery, Outbox } from '../kernel/queue.ts';
import type { Delivered, DueMessage, Mails } from '../notifications/ports.ts';
import type { Attempted } from '../notifications/use-cases/deliver-to-webhooks.ts';
import type {
  ClaimedDelivery,
  Claiming,
  WebhookDeliveries,
} from '../notifications/webhook-ports.ts';

/** Handles one event. A repeated event must have no further effect. */
export type Subscriber = (stored: StoredEvent) => Promise<void>;
export type Subscribers = Readonly<Record<string, Subscriber>>;

interface Base {
  readonly clock: Clock;
  readonly log: Logger;
}

export const mostAttempts = 10;
const longestWaitMs = 2 * minuteMs;
/** A delivery to an unknown subscriber is not parked before this time, because an upgrade may be in progress. */
const longestUpgradeMs = 24 * 60 * minuteMs;
/** Pause after an unexpected failure, so that a domain is not retried in a tight loop. */
const restMs = 5 * minuteMs;
const domainsAtOnce = 200;
/** Checks and orders have separate limits, because checks wait for name servers and orders for the authority. */
const domainLanes = { checks: 100, orders: 20 } as const;
/** A check starts with dozens of queries; many checks at once would block the process. */
const pace = { interval: 5, intervalCap: 2 } as const;

/** Returns 1 s after the first failure, then 2, 4, 8 …, at most 2 min. */
export const waitAfter = (attempts: number): number =>
  Math.min(1000 * 2 ** attempts, longestWaitMs);

const later = (clock: Clock, ms: number) => new Date(clock.now().getTime() + ms);

/** A newer release usually stored the delivery. */
class UnknownSubscriber extends Error {}

const events = (
  {
    outbox,
    subscribers,
    clock,
    log,
  }: Base & {
    readonly outbox: Outbox;
    readonly subscribers: Subscribers;
  },
  longestMs = 10_000,
): QueueKind<Delivery> => ({
  what: 'events',
  queue: outbox,
  share: new Shared({ atOnce: 100 }),
  leaseMs: minuteMs,
  isInBatches: true,
  longest: { ms: longestMs, nameOf: ({ subscriber }) => subscriber },
  work: async ({ stored, subscriber }) => {
    const handle = Object.hasOwn(subscribers, subscriber) ? subscribers[subscriber] : undefined;
    if (!handle) throw new UnknownSubscriber(`no subscriber is called ${subscriber}`);
    await handle(stored);
  },
  afterFailure: async (delivery, err) => {
    const { subscriber, attempts, stored } = delivery;
    const { id: eventId, event } = stored;
    const problem = err instanceof Error ? err.message : String(err);
    const facts = { subscriber, event: event.type, eventId, err };
    const ageMs = clock.now().getTime() - event.occurredAt.getTime();
    const isOfNewerRelease = err instanceof UnknownSubscriber && ageMs < longestUpgradeMs;
    if (attempts + 1 >= mostAttempts && !isOfNewerRelease) {
      log.error(facts, 'event parked: its subscriber keeps failing');
      await outbox.park(delivery, problem);
      return;
    }
    log.warn({ ...facts, attempts: attempts + 1 }, 'event not delivered, will be retried');
    await outbox.retry(delivery, later(clock, waitAfter(attempts)), problem);
  },
});

const mails = ({
  mails: queue,
  deliver,
  log,
}: Base & {
  readonly mails: Pick<Mails, 'claim' | 'nextDueAt'>;
  readonly deliver: (message: DueMessage, signal: AbortSignal) => Promise<Delivered>;
}): QueueKind<DueMessage> => {
  const factsOf = ({ id, personId, attempts }: DueMessage) => {
    return { mail: id, personId, attempts: attempts + 1 };
  };
  return {
    what: 'due mail',
    queue,
    leaseMs: 2 * minuteMs,
    share: new Shared({ atOnce: 4, accountOf: ({ accountId }) => accountId }),
    work: async (message, signal) => {
      const posted = await deliver(message, signal);
      const facts = factsOf(message);
      if (posted.kind === 'taken') log.info(facts, 'mail sent');
      else if (posted.kind === 'left_out') log.info(facts, 'mail skipped');
      else log.warn({ ...facts, ...posted }, 'mail not sent');
    },
    afterFailure: (message, err) => {
      log.warn({ ...factsOf(message), err }, 'mail not delivered, will be tried again');
      return Promise.resolve();
    },
  };
};

/** `attempt` stores the outcome itself. The lease is longer than an attempt may take. */
const webhooks = (
  {
    deliveries,
    attempt,
    log,
  }: Base & {
    readonly deliveries: Pick<WebhookDeliveries, 'claim' | 'nextDueAt'>;
    readonly attempt: (
      claimed: ClaimedDelivery,
      signal: AbortSignal,
    ) => Promise<Pick<Attempted, 'fault'> | undefined>;
  },
  { leaseMs, longestMs } = { leaseMs: 30_000, longestMs: 25_000 },
): QueueKind<ClaimedDelivery, Claiming> => ({
  what: 'due deliveries',
  queue: deliveries,
  share: new CallsUnderWay(),
  leaseMs,
  longest: { ms: longestMs, nameOf: () => 'a delivery' },
  work: async (claimed, signal) => {
    const err = (await attempt(claimed, signal))?.fault;
    const facts = { err, webhookId: claimed.delivery.webhookId, deliveryId: claimed.id };
    if (err) log.error(facts, 'delivery could not be signed');
  },
  afterFailure: ({ id, delivery: { webhookId } }, err) => {
    log.warn({ err, webhookId, deliveryId: id }, 'delivery failed, will be tried again');
    return Promise.resolve();
  },
});

const domains = ({
  dueDomains,
  tend,
  clock,
  log,
}: Base & {
  readonly dueDomains: DueDomains;
  readonly tend: (domain: CustomDomain) => Promise<void>;
}): QueueKind<DueDomain> => {
  const checks = new PQueue({ concurrency: domainLanes.checks, ...pace });
  const orders = new PQueue({ concurrency: domainLanes.orders });
  return {
    what: 'due domains',
    queue: dueDomains,
    leaseMs: 30_000,
    share: new Shared({ atOnce: domainsAtOnce, refill: domainsAtOnce / 2 }),
    inTurn: ({ domain }, begin) => {
      const isOrder = dueWork(domain, clock.now()) === 'certificate';
      return (isOrder ? orders : checks).add(begin);
    },
    work: ({ domain }) => tend(domain),
    afterFailure: (due, err) => {
      log.warn({ err, domainId: due.id }, 'work on a domain failed, will be retried');
      // A short database outage is not the domain's fault.
      if (err instanceof Unavailable) return dueDomains.done([due]);
      return dueDomains.prolong([due], later(clock, restMs));
    },
  };
};

export const queueKinds = { events, mails, webhooks, domains };

type Worker = Pick<QueueWorker<never>, 'news' | 'run' | 'stop'>;

export type Queues = Readonly<
  Record<'events' | 'webhooks' | 'domains', Worker> & Record<'mails', Worker | undefined>
>;

export type Bells = Readonly<
  Record<
    'events' | 'webhooks' | 'domains' | 'mails' | 'certificates' | 'renewals' | 'mailRequests',
    Bell
  >
>;
