import type { Clock, Ids } from '../kernel/ports.ts';
import type { DestinationRules } from './domain/destination.ts';
import type { Notification, NotificationKind } from './domain/notification.ts';
import type { MailState, NotificationsPorts, Reader } from './ports.ts';
import {
  deliverMail,
  mailAccount,
  mailOwners,
  mailPerson,
  unsubscribe,
  whatToUnsubscribe,
} from './use-cases/mail.ts';
import { deliverToWebhooks } from './use-cases/deliver-to-webhooks.ts';
import { manageWebhooks } from './use-cases/manage-webhooks.ts';
import type {
  AskedCalls,
  Outside,
  WebhookDeliveries,
  Webhooks,
  WebhookSigning,
} from './webhook-ports.ts';

/** Beyond that, "99+" says enough. */
export const mostCounted = 100;

/** What people are told: at once of what happened, and of what shows only over time. */
export const notifications = (ports: NotificationsPorts) => ({
  mailAccount: mailAccount(ports),
  mailOwners: mailOwners(ports),
  mailPerson: mailPerson(ports),
  isMailOn: ports.postman !== undefined,
  /** See `Mails.state`. Undefined where there is no mail server. */
  countMails: async (): Promise<MailState | undefined> =>
    ports.postman && ports.mails.state(ports.clock.now()),
  /** See `Mails.troubles`. */
  listMailTroubles: (accountId: string) => ports.mails.troubles(accountId),
  /** The kinds that the person has switched off. */
  mailKindsOff: async (personId: string): Promise<ReadonlySet<NotificationKind>> =>
    (await ports.mailChoices.off([personId])).get(personId) ?? new Set(),
  /** See `MailChoices.choose`. */
  chooseMail: (personId: string, off: ReadonlySet<NotificationKind>) =>
    ports.mailChoices.choose(personId, off),
  deliverMail: deliverMail(ports),
  whatToUnsubscribe: whatToUnsubscribe(ports),
  unsubscribe: unsubscribe(ports),
  /** See `Notices.add`. */
  addNotice: (notification: Notification) => ports.notices.add(notification),
  /** See `Notices.list`. */
  listNotices: (accountId: string, limit: number, before?: bigint) =>
    ports.notices.list(accountId, limit, before),
  newestNotice: (accountId: string) => ports.notices.newest(accountId),
  /** @returns how many, at most `mostCounted` */
  countUnread: (reader: Reader) => ports.notices.unread(reader, mostCounted),
  /** The person looks at the notices. @returns the highest place that they had seen before, and the one now */
  lookAtNotices: async (
    reader: Reader,
  ): Promise<{ readonly before: bigint; readonly newest: bigint }> => {
    const newest = await ports.notices.newest(reader.accountId);
    return { before: await ports.notices.markSeen(reader, newest), newest };
  },
});

export type Notifications = ReturnType<typeof notifications>;

export interface WebhookPorts {
  readonly webhooks: Webhooks;
  readonly deliveries: WebhookDeliveries;
  readonly signing: WebhookSigning;
  readonly outside: Outside;
  readonly askedCalls: AskedCalls;
  readonly destinationRules: DestinationRules;
  readonly ids: Ids;
  readonly clock: Clock;
}

/** Telling programs of owners: which addresses are called, and how each call went. */
export const webhookCalls = (ports: WebhookPorts) => ({
  ...manageWebhooks(ports),
  ...deliverToWebhooks(ports),
});

export type WebhookCalls = ReturnType<typeof webhookCalls>;
