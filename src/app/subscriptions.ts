import type { AccessEvent } from '../access/domain/access-event.ts';
import type { Subscriber } from '../adapters/events/event-bus.ts';
import type { CatalogueEvent } from '../catalogue/domain/catalogue-event.ts';
import type {
  DeployDeleted,
  DeployDiscarded,
  DeployFailed,
  SitesEvent,
} from '../sites/domain/sites-event.ts';
import type { DomainLive, DomainsEvent } from '../domains/domain/domains-event.ts';
import type { Domains } from '../domains/domains.ts';
import type { Sites } from '../sites/sites.ts';

export type AnyEvent = CatalogueEvent | AccessEvent | SitesEvent | DomainsEvent;

export type SubscriberName = 'certificates' | 'domains' | 'primary' | 'storage';

interface Subscription {
  readonly isShown: boolean;
  readonly subscribers: readonly SubscriberName[];
}

/** The audit log shows the event, which is therefore kept forever. */
const shown = (...subscribers: readonly SubscriberName[]) => ({ isShown: true, subscribers });
/** The audit log does not show the event, which is deleted some days after its delivery. */
const hidden = (...subscribers: readonly SubscriberName[]) => ({ isShown: false, subscribers });

/** Every event: whether the audit log shows it, and who reacts to it. A missing event does not compile. */
export const subscriptions = {
  pet_added: shown(),
  pet_reserved: shown(),
  pet_released: shown(),
  pet_sold: shown(),
  order_approved: shown(),
  order_delivered: shown(),
  account_opened: shown(),
  plan_changed: shown(),
  api_key_issued: shown(),
  api_key_rotated: shown(),
  api_key_banned: shown(),
  api_key_ban_lifted: shown(),
  api_key_revoked: shown(),
  person_invited: shown(),
  person_removed: shown(),
  sign_in_link_made: shown(),
  person_signed_in: shown(),
  password_changed: shown(),
  session_revoked: shown(),
  project_created: shown(),
  deploy_succeeded: shown('certificates'),
  deploy_failed: shown('storage'),
  site_rolled_back: shown(),
  deploy_discarded: hidden('storage'),
  deploy_deleted: shown('storage'),
  domain_settings_changed: shown(),
  domain_added: shown(),
  domain_verified: shown('domains'),
  domain_live: shown('primary'),
  domain_removed: shown(),
  certificate_ordered: hidden(),
  certificate_issued: hidden(),
  certificate_renewed: shown(),
  certificate_failed: shown(),
} as const satisfies Readonly<Record<AnyEvent['type'], Subscription>>;

const table = new Map<string, Subscription>(Object.entries(subscriptions));

export const subscribersOf = (type: string): readonly string[] =>
  table.get(type)?.subscribers ?? [];

/** Types of the events that the audit log does not show. It shows those of newer versions, which it does not know. */
export const hiddenTypes: readonly string[] = [...table].flatMap(([type, { isShown }]) =>
  isShown ? [] : [type],
);

export const subscribers = ({
  sites,
  domains,
  secureSites,
  tendDomains,
}: {
  readonly sites: Pick<Sites, 'removeDeployFiles'>;
  readonly domains: Pick<Domains, 'adoptPrimary'>;
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
  primary: ({ event }) => domains.adoptPrimary(event as DomainLive),
  storage: ({ event }) =>
    sites.removeDeployFiles((event as DeployDeleted | DeployDiscarded | DeployFailed).deployId),
});
