import type { ResolutionContext } from 'inversify';
import { QueueWorker } from '../adapters/schedule/queue-worker.ts';
import { named, RunningWork } from '../adapters/system/event-loop-watch.ts';
import { DueDomains } from '../domains/ports.ts';
import type { CustomDomain } from '../domains/domain/attachment/custom-domain.ts';
import { Clock } from '../kernel/clock.ts';
import type { StoredEvent } from '../kernel/domain-event.ts';
import { Outbox } from '../kernel/queue.ts';
import type { Beginning } from '../kernel/tracer.ts';
import type { Notification } from '../notifications/domain/notification.ts';
import { Mails } from '../notifications/ports.ts';
import { WebhookDeliveries, type ClaimedDelivery } from '../notifications/webhook-ports.ts';
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
} from './keys.ts';
import { countedAttempts } from './measures/counted-attempts.ts';
import { queueKinds, type Subscriber, type Subscribers } from './queues.ts';
import { subscribers } from './subscribers.ts';
import type { AnyEvent, EventTo } from './subscriptions.ts';
import { notificationOf } from './told.ts';
import { begun, tracedSubscribers, tracerOf } from './tracing.ts';
import { watchedSubscribers } from './watched-work.ts';
import { wiring } from './wiring.ts';

type EventToPeople = Extract<AnyEvent, { type: EventTo<'personalMails'> }>;

/** All that waits for its time in the database, and the way of events to their subscribers. */
export const events = wiring((once) => {
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
  const [tracer, watched] = [tracerOf(c), watchedSubscribers(c.get(RunningWork), all)];
  return tracer ? tracedSubscribers(tracer, watched) : watched;
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
