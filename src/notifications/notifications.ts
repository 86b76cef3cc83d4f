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

/** The page then shows "99+". */
export const mostUnread = 100;

export const notifications = (ports: NotificationsPorts) => ({
  mailAccount: mailAccount(ports),
  mailOwners: mailOwners(ports),
  mailPerson: mailPerson(ports),
  isMailOn: ports.postman !== undefined,
  countMails: async (): Promise<MailState | undefined> =>
    ports.postman && ports.mails.state(ports.clock.now()),
  listMailTroubles: (accountId: string) => ports.mails.troubles(accountId),
  mailKindsOff: async (personId: string): Promise<ReadonlySet<NotificationKind>> =>
    (await ports.mailChoices.off([personId])).get(personId) ?? new Set(),
  chooseMail: (personId: string, off: ReadonlySet<NotificationKind>) =>
    ports.mailChoices.choose(personId, off),
  deliverMail: deliverMail(ports),
  whatToUnsubscribe: whatToUnsubscribe(ports),
  unsubscribe: unsubscribe(ports),
  addNotice: (notification: Notification) => ports.notices.add(notification),
  listNotices: (accountId: string, limit: number, before?: bigint) =>
    ports.notices.list(accountId, limit, before),
  countUnread: (reader: Reader) => ports.notices.unread(reader, mostUnread),
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
  readonly chance: () => number;
}

export const webhookCalls = (ports: WebhookPorts) => ({
  ...manageWebhooks(ports),
  ...deliverToWebhooks(ports),
});

export type WebhookCalls = ReturnType<typeof webhookCalls>;
