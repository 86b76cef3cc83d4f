import type { AccessEvent } from '../access/domain/access-event.ts';
import type { AuditLog } from '../access/ports.ts';
import type { Subscriber } from '../adapters/events/event-bus.ts';
import type { CatalogueEvent } from '../catalogue/domain/catalogue-event.ts';
import type {
  DeployDeleted,
  DeployDiscarded,
  DeployFailed,
  DomainLive,
  SitesEvent,
} from '../sites/domain/sites-event.ts';
import type { Sites } from '../sites/sites.ts';

export type AnyEvent = CatalogueEvent | AccessEvent | SitesEvent;

export type SubscriberName = 'audit' | 'certificates' | 'domains' | 'primary' | 'storage';

/** Every event and who reacts to it. An empty list is a decision; a missing event does not compile. */
export const subscriptions = {
  pet_added: ['audit'],
  pet_reserved: ['audit'],
  pet_released: ['audit'],
  pet_sold: ['audit'],
  order_approved: ['audit'],
  order_delivered: ['audit'],
  account_opened: ['audit'],
  plan_changed: ['audit'],
  api_key_issued: ['audit'],
  api_key_rotated: ['audit'],
  api_key_banned: ['audit'],
  api_key_ban_lifted: ['audit'],
  api_key_revoked: ['audit'],
  person_invited: ['audit'],
  person_removed: ['audit'],
  sign_in_link_made: ['audit'],
  person_signed_in: ['audit'],
  password_changed: ['audit'],
  session_revoked: ['audit'],
  project_created: ['audit'],
  deploy_succeeded: ['audit', 'certificates'],
  deploy_failed: ['audit', 'storage'],
  site_rolled_back: ['audit'],
  deploy_discarded: ['storage'],
  deploy_deleted: ['audit', 'storage'],
  domain_settings_changed: ['audit'],
  domain_added: ['audit'],
  domain_verified: ['audit', 'domains'],
  domain_live: ['audit', 'primary'],
  domain_removed: ['audit'],
  certificate_ordered: [],
  certificate_issued: [],
  certificate_renewed: ['audit'],
  certificate_failed: ['audit'],
} as const satisfies Readonly<Record<AnyEvent['type'], readonly SubscriberName[]>>;

const table: Readonly<Record<string, readonly string[]>> = subscriptions;

export const subscribersOf = (type: string): readonly string[] => table[type] ?? [];

export const subscribers = ({
  auditLog,
  sites,
  secureSites,
  tendDomains,
}: {
  readonly auditLog: AuditLog;
  readonly sites: Pick<Sites, 'removeDeployFiles' | 'adoptPrimary'>;
  /** Looks for hosts of projects without a certificate, and gets one. */
  readonly secureSites: () => void;
  /** Looks for domains with something to do, and does it. */
  readonly tendDomains: () => void;
}): Readonly<Record<SubscriberName, Subscriber>> => ({
  audit: (stored) => auditLog.record(stored),
  // These two only start the work and return: orders take longer than a subscriber may, and the schedule retries them.
  certificates: () => {
    secureSites();
    return Promise.resolve();
  },
  domains: () => {
    tendDomains();
    return Promise.resolve();
  },
  primary: ({ event }) => sites.adoptPrimary(event as DomainLive),
  storage: ({ event }) =>
    sites.removeDeployFiles((event as DeployDeleted | DeployDiscarded | DeployFailed).deployId),
});
