import type { AccessEvent } from '../access/domain/access-event.ts';
import type { CatalogueEvent } from '../catalogue/domain/catalogue-event.ts';
import type { DomainsEvent } from '../domains/domain/domains-event.ts';
import type { Domains } from '../domains/domains.ts';
import type { WebhookEvent } from '../notifications/domain/webhook.ts';
import type { WebhookCalls } from '../notifications/notifications.ts';
import type {
  DeployDeleted,
  DeployDiscarded,
  DeployFailed,
  SitesEvent,
} from '../sites/domain/sites-event.ts';
import type { Sites } from '../sites/sites.ts';
import type { Subscriber } from './queues.ts';

export type AnyEvent = CatalogueEvent | AccessEvent | SitesEvent | DomainsEvent | WebhookEvent;

export type SubscriberName =
  | 'accountMails'
  | 'certificates'
  | 'deletions'
  | 'domains'
  | 'mail'
  | 'notices'
  | 'personalMails'
  | 'primaries'
  | 'requests'
  | 'storage'
  | 'webhooks';

interface Subscription {
  readonly isShown: boolean;
  readonly subscribers: readonly SubscriberName[];
}

/** The audit log shows the event, so it is kept forever. */
const shown = <const Names extends Reactions>(...subscribers: Names) => ({
  isShown: true,
  subscribers,
});
/** The audit log does not show the event, so it is deleted some days after delivery. */
const hidden = <const Names extends Reactions>(...subscribers: Names) => ({
  isShown: false,
  subscribers,
});

/** These subscribers send the notices of `notification-for-event.ts` to owners. */
const toOwners = ['notices', 'mail', 'webhooks'] as const;

type Others = readonly Exclude<SubscriberName, (typeof toOwners)[number]>[];

type Reactions = Others | readonly [...Others, ...typeof toOwners];

/** Says for every event whether the audit log shows it, and lists its subscribers. A missing event does not compile. */
export const subscriptions = {
  pet_added: shown(),
  pet_changed: shown(),
  pet_reserved: shown(),
  pet_released: shown(),
  pet_sold: shown(),
  pet_deleted: shown(),
  order_approved: shown(),
  order_delivered: shown(),
  account_opened: shown(),
  account_renamed: shown(),
  account_deleted: shown('deletions', 'accountMails'),
  account_restored: shown('deletions'),
  plan_changed: shown(),
  api_key_issued: shown(),
  api_key_rotated: shown(),
  api_key_banned: shown(...toOwners),
  api_key_ban_lifted: shown(),
  api_key_revoked: shown(),
  person_invited: shown(),
  person_role_changed: shown(),
  person_removed: shown(),
  sign_in_link_made: shown(),
  link_mail_wanted: hidden('personalMails'),
  sign_in_link_mailed: shown(),
  person_signed_in: shown(),
  password_changed: shown('personalMails'),
  second_factor_added: shown('personalMails'),
  second_factor_removed: shown('personalMails'),
  second_factor_reset: shown('personalMails'),
  recovery_codes_made: shown(),
  recovery_code_used: shown('personalMails'),
  second_factor_demanded: shown(),
  session_revoked: shown(),
  project_created: shown(),
  project_renamed: shown('certificates'),
  project_deleted: shown('deletions', ...toOwners),
  project_restored: shown('deletions'),
  project_ended: shown(),
  deploy_succeeded: shown('certificates'),
  deploy_failed: shown('storage', ...toOwners),
  site_rolled_back: shown(),
  deploy_discarded: hidden('storage'),
  deploy_deleted: shown('storage'),
  domain_settings_changed: shown(),
  domain_added: shown(),
  // The proof of a name can come and go any number of times; the timeline keeps the latest.
  domain_prepared: hidden(),
  domain_unprepared: hidden(),
  domain_verified: shown('domains'),
  domain_live: shown('primaries', ...toOwners),
  domain_removed: shown('primaries', ...toOwners),
  domain_contested: hidden(...toOwners),
  domain_shared: shown(),
  domain_share_ended: shown(),
  certificate_ordered: hidden(),
  certificate_issued: hidden(),
  certificate_renewed: shown(),
  certificate_failed: shown(),
  domain_unhealthy: hidden(...toOwners),
  domain_recovered: hidden(...toOwners),
  certificate_failing: hidden(...toOwners),
  certificate_recovered: hidden(...toOwners),
  quota_warning: hidden(...toOwners),
  quota_reached: hidden(...toOwners),
  operation_removal: hidden(...toOwners),
  webhook_added: shown(),
  webhook_changed: shown(),
  webhook_rotated: shown(),
  webhook_switched_on: shown(),
  webhook_switched_off: shown(...toOwners),
  webhook_removed: shown(),
  // The webhook's deliveries already show the request.
  webhook_tested: hidden('requests'),
  webhook_repeated: hidden('requests'),
} as const satisfies Readonly<Record<AnyEvent['type'], Subscription>>;

export type EventTo<Name extends SubscriberName> = {
  [Type in AnyEvent['type']]: Name extends (typeof subscriptions)[Type]['subscribers'][number]
    ? Type
    : never;
}[AnyEvent['type']];

const table = new Map<string, Subscription>(Object.entries(subscriptions));

export const subscribersOf = (type: string): readonly string[] =>
  table.get(type)?.subscribers ?? [];

const typesWhere = (isWanted: boolean): readonly string[] =>
  [...table].flatMap(([type, { isShown }]) => (isShown === isWanted ? [type] : []));

export const shownTypes = typesWhere(true);
export const hiddenTypes = typesWhere(false);

export const subscribers = ({
  sites,
  domains,
  addNotice,
  mailOwners,
  mailPeople,
  mailAccount,
  callWebhooks,
  webhooks,
  callDueWebhooks,
  secureSites,
  tendDomains,
}: {
  readonly sites: Pick<Sites, 'listAllProjects' | 'removeDeployFiles'>;
  readonly domains: Pick<Domains, 'adoptPrimary' | 'followProject'>;
  readonly addNotice: Subscriber;
  readonly mailOwners: Subscriber;
  readonly mailPeople: Subscriber;
  readonly mailAccount: Subscriber;
  readonly callWebhooks: Subscriber;
  readonly webhooks: Pick<WebhookCalls, 'pingWebhook'>;
  readonly callDueWebhooks: () => void;
  readonly secureSites: () => void;
  readonly tendDomains: () => void;
}): Readonly<Record<SubscriberName, Subscriber>> => ({
  accountMails: mailAccount,
  deletions: async ({ event }) => {
    const deleted = event as Extract<AnyEvent, { type: EventTo<'deletions'> }>;
    const all = await sites.listAllProjects(deleted.accountId);
    const its = 'projectId' in deleted ? all.filter(({ id }) => id === deleted.projectId) : all;
    for (const { id } of its) await domains.followProject(id);
    tendDomains();
    secureSites();
  },
  // `certificates` and `domains` only start the work, because orders take longer than a subscriber may; the
  // schedule retries.
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
