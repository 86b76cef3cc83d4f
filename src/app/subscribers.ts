import type { DeployDeleted, DeployDiscarded, DeployFailed } from '../sites/domain/sites-event.ts';
import type { Domains } from '../domains/domains.ts';
import type { WebhookCalls } from '../notifications/notifications.ts';
import type { Sites } from '../sites/sites.ts';
import type { Subscriber } from './queues.ts';
import type { AnyEvent, EventTo, SubscriberName } from './subscriptions.ts';

/** What each name in the table `subscriptions` does. */
export const subscribers = ({
  sites,
  domains,
  addNotice,
  mailOwners,
  mailPeople,
  callWebhooks,
  webhooks,
  callDueWebhooks,
  secureSites,
  tendDomains,
}: {
  readonly sites: Pick<Sites, 'removeDeployFiles'>;
  readonly domains: Pick<Domains, 'adoptPrimary'>;
  /** Adds a notice for the event, if there is not one already. */
  readonly addNotice: Subscriber;
  /** Adds mails for the event, except those that are there already. */
  readonly mailOwners: Subscriber;
  /** Asks for the mail to the person whom the event concerns. */
  readonly mailPeople: Subscriber;
  /** Adds deliveries for the event, except those that are there already. */
  readonly callWebhooks: Subscriber;
  readonly webhooks: Pick<WebhookCalls, 'pingWebhook'>;
  /** Looks for deliveries that are due, and begins them. */
  readonly callDueWebhooks: () => void;
  /** Looks for hosts of projects without a certificate, and gets one. */
  readonly secureSites: () => void;
  /** Looks for domains with something to do, and does it. */
  readonly tendDomains: () => void;
}): Readonly<Record<SubscriberName, Subscriber>> => ({
  // These two only start the work and return: orders take longer than a subscriber may, and the schedule retries them.
  certificates: () => {
    secureSites();
    return Promise.resolve();
  },
  domains: () => {
    tendDomains();
    return Promise.resolve();
  },
  mail: mailOwners,
  notices: addNotice,
  personalMails: mailPeople,
  primaries: ({ event }) =>
    domains.adoptPrimary((event as Extract<AnyEvent, { type: EventTo<'primaries'> }>).projectId),
  requests: async ({ id, event }) => {
    const asked = event as Extract<AnyEvent, { type: EventTo<'requests'> }>;
    if (asked.type === 'webhook_tested') await webhooks.pingWebhook(id, asked);
    callDueWebhooks();
  },
  storage: ({ event }) =>
    sites.removeDeployFiles((event as DeployDeleted | DeployDiscarded | DeployFailed).deployId),
  webhooks: async (stored) => {
    await callWebhooks(stored);
    callDueWebhooks();
  },
});
