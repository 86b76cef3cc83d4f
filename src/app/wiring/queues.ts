import type { ResolutionContext } from 'inversify';
import type { Tally } from '../../adapters/http/metrics/measures.ts';
import { QueueWorker } from '../../adapters/schedule/queue-worker.ts';
import { named, RunningWork } from '../../adapters/system/event-loop-watch.ts';
import { DueDomains } from '../../domains/ports.ts';
import type { CustomDomain } from '../../domains/domain/attachment/custom-domain.ts';
import { Clock } from '../../kernel/ports.ts';
import type { StoredEvent } from '../../kernel/decision.ts';
import { Outbox } from '../../kernel/queue.ts';
import type { Beginning, Tracer } from '../../kernel/tracer.ts';
import type { Notification } from '../../notifications/domain/notification.ts';
import {
  isSuccess,
  failedWhys,
  type Outcome,
} from '../../notifications/domain/webhook-delivery.ts';
import { Mails } from '../../notifications/ports.ts';
import { WebhookDeliveries, type ClaimedDelivery } from '../../notifications/webhook-ports.ts';
import type { WebhookCalls } from '../../notifications/notifications.ts';
import {
  AccessKey,
  BellsKey,
  DomainsKey,
  LogKey,
  MetricsKey,
  NotificationsKey,
  QueuesKey,
  SitesKey,
  WebhookCallsKey,
} from '../keys.ts';
import { notificationOf } from '../notification-for-event.ts';
import { queueKinds, type Subscriber, type Subscribers } from '../queues.ts';
import { subscribers, type AnyEvent, type EventTo } from '../subscriptions.ts';
import { begun, tracerOf } from '../tracing.ts';
import { wiring } from './wiring.ts';

type EventToPeople = Extract<AnyEvent, { type: EventTo<'personalMails'> }>;

export const queues = wiring((once) => {
  once(QueuesKey, (c) => {
    const [clock, log, running] = [c.get(Clock), c.get(LogKey), c.get(RunningWork)];
    const [bells, tracer, notifications] = [c.get(BellsKey), tracerOf(c), c.get(NotificationsKey)];
    const [domains, calls, ports] = [c.get(DomainsKey), c.get(WebhookCallsKey), { clock, log }];
    const metrics = c.get(MetricsKey, { optional: true });
    const attempt = metrics
      ? countedAttempts(metrics, calls.attemptDelivery)
      : calls.attemptDelivery;
    const toDeliver = { outbox: c.get(Outbox), subscribers: subscribersOf(c), ...ports };
    const toMail = { mails: c.get(Mails), deliver: notifications.deliverMail, ...ports };
    const toCall = {
      deliveries: c.get(WebhookDeliveries),
      attempt: (claimed: ClaimedDelivery, signal: AbortSignal) =>
        running.during(named('delivery to webhook', claimed.delivery.webhookId), () =>
          begun(tracer, callOf(claimed), () => attempt(claimed, signal)),
        ),
      ...ports,
    };
    const toTend = {
      dueDomains: c.get(DueDomains),
      tend: (domain: CustomDomain) =>
        running.during(named('check of', domain.host), () =>
          begun(tracer, workOn(domain), () => domains.tendDomain(domain)),
        ),
      ...ports,
    };
    return {
      events: new QueueWorker(queueKinds.events(toDeliver), { ...ports, news: bells.events }),
      webhooks: new QueueWorker(queueKinds.webhooks(toCall), { ...ports, news: bells.webhooks }),
      domains: new QueueWorker(queueKinds.domains(toTend), { ...ports, news: bells.domains }),
      mails: notifications.isMailOn
        ? new QueueWorker(queueKinds.mails(toMail), { ...ports, news: bells.mails })
        : undefined,
    };
  });
});

const subscribersOf = (c: ResolutionContext): Subscribers => {
  const [bells, notifications] = [c.get(BellsKey), c.get(NotificationsKey)];
  const [access, webhooks] = [c.get(AccessKey), c.get(WebhookCallsKey)];
  const named = { sites: c.get(SitesKey), access };
  const telling =
    (tell: (notification: Notification) => Promise<void>): Subscriber =>
    async (stored) => {
      const notification = await notificationOf(stored, named);
      if (notification) await tell(notification);
    };
  const ifMailIsOn = (subscriber: Subscriber): Subscriber =>
    notifications.isMailOn ? subscriber : () => Promise.resolve();
  const all = subscribers({
    sites: c.get(SitesKey),
    domains: c.get(DomainsKey),
    addNotice: telling((notification) => notifications.addNotice(notification)),
    mailOwners: ifMailIsOn(telling((notification) => notifications.mailOwners(notification))),
    mailPeople: ifMailIsOn(async (stored) => {
      await access.wantMail(stored as StoredEvent<EventToPeople>);
      bells.mailRequests.ring();
    }),
    mailAccount: async ({ id, event }) => {
      const {
        accountId,
        name: account,
        until,
      } = event as Extract<AnyEvent, { type: EventTo<'accountMails'> }>;
      await notifications.mailAccount({
        id,
        accountId,
        kind: 'account.deleted',
        about: { account, until },
      });
    },
    callWebhooks: telling((notification) => webhooks.tellWebhooks(notification)),
    webhooks,
    callDueWebhooks: () => {
      bells.webhooks.ring();
    },
    secureSites: () => {
      bells.certificates.ring();
    },
    tendDomains: () => {
      bells.domains.ring();
    },
  });
  return observedSubscribers(c.get(RunningWork), tracerOf(c), all);
};

const callOf = ({ delivery }: ClaimedDelivery): Beginning => ({
  name: 'call webhook',
  kind: 'client',
  facts: {
    'messaging.message.id': delivery.messageId,
    'animal_store.account.id': delivery.accountId,
    'animal_store.webhook.id': delivery.webhookId,
    'animal_store.webhook.type': delivery.type,
  },
});

const workOn = ({ id, host, state }: CustomDomain): Beginning => ({
  name: 'tend domain',
  kind: 'internal',
  facts: {
    'animal_store.domain.id': id,
    'animal_store.domain.host': host,
    'animal_store.domain.state': state,
  },
});

/** Names a delivery that blocks the process, and links its trace to the one that stored the event. */
export const observedSubscribers = (
  running: RunningWork,
  tracer: Tracer | undefined,
  subscribers: Subscribers,
): Subscribers =>
  Object.fromEntries(
    Object.entries(subscribers).map(([name, handle]): [string, Subscriber] => [
      name,
      (stored) =>
        begun(tracer, deliveryOf(stored, name), () =>
          running.during(named('delivery', `${stored.event.type} to ${name}`), () =>
            handle(stored),
          ),
        ),
    ]),
  );

const deliveryOf = ({ id, event }: StoredEvent, subscriber: string): Beginning => ({
  name: `process ${event.type}`,
  kind: 'consumer',
  facts: {
    'messaging.system': 'animal_store',
    'messaging.operation.name': 'process',
    'messaging.operation.type': 'process',
    'messaging.destination.name': event.type,
    'messaging.destination.subscription.name': subscriber,
    'messaging.message.id': id,
    'animal_store.account.id': event.accountId,
  },
  causedBy: id,
});

type Attempt = WebhookCalls['attemptDelivery'];

export const attemptOutcomes = ['succeeded', 'rejected', ...failedWhys] as const;

const countedAttempts = (metrics: Tally, attempt: Attempt): Attempt => {
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
