import { EventBus, type Subscriber } from '../adapters/events/event-bus.ts';
import { tracedSubscribers } from '../adapters/events/traced-subscribers.ts';
import { OutboxRelay } from '../adapters/events/outbox-relay.ts';
import { DueDomains } from '../adapters/schedule/due-domains.ts';
import { WebhookPump } from '../adapters/schedule/webhook-pump.ts';
import { RunningWork } from '../adapters/system/running-work.ts';
import { Clock } from '../kernel/clock.ts';
import type { StoredEvent } from '../kernel/domain-event.ts';
import { Outbox } from '../kernel/outbox.ts';
import type { Notification } from '../notifications/domain/notification.ts';
import {
  AccessKey,
  DomainsKey,
  LogKey,
  MailPeopleKey,
  NotificationsKey,
  SecureSitesKey,
  SitesKey,
  WebhookCallsKey,
} from './keys.ts';
import { subscribers } from './subscribers.ts';
import type { AnyEvent, EventTo } from './subscriptions.ts';
import { notificationOf } from './told.ts';
import { tracerOf } from './tracing.ts';
import { watchedSubscribers } from './watched-work.ts';
import { wiring } from './wiring.ts';

type EventToPeople = Extract<AnyEvent, { type: EventTo<'personalMails'> }>;

/** The way of events from the outbox to their subscribers. */
export const events = wiring((once) => {
  once(EventBus, (c) => {
    const [dueDomains, certificates] = [c.get(DueDomains), c.get(SecureSitesKey)];
    const requests = c.get(MailPeopleKey);
    const notifications = c.get(NotificationsKey);
    const access = c.get(AccessKey);
    const named = { sites: c.get(SitesKey), access };
    const telling =
      (tell: (notification: Notification) => Promise<void>): Subscriber =>
      async (stored) => {
        const notification = await notificationOf(stored, named);
        if (notification) await tell(notification);
      };
    const [webhooks, pump] = [c.get(WebhookCallsKey), c.get(WebhookPump)];
    const all = subscribers({
      sites: c.get(SitesKey),
      domains: c.get(DomainsKey),
      addNotice: telling((notification) => notifications.addNotice(notification)),
      mailOwners: notifications.isMailOn
        ? telling((notification) => notifications.mailOwners(notification))
        : () => Promise.resolve(),
      mailPeople: notifications.isMailOn
        ? async (stored) => {
            await access.wantMail(stored as StoredEvent<EventToPeople>);
            requests.news.ring();
          }
        : () => Promise.resolve(),
      callWebhooks: telling((notification) => webhooks.tellWebhooks(notification)),
      webhooks,
      callDueWebhooks: () => {
        pump.news.ring();
      },
      secureSites: () => {
        certificates.news.ring();
      },
      tendDomains: () => {
        dueDomains.news.ring();
      },
    });
    const [tracer, watched] = [tracerOf(c), watchedSubscribers(c.get(RunningWork), all)];
    return new EventBus(tracer ? tracedSubscribers(tracer, watched) : watched);
  });
  once(
    OutboxRelay,
    (c) => new OutboxRelay(c.get(Outbox), c.get(EventBus), c.get(Clock), c.get(LogKey)),
  );
});
