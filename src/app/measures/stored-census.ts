import type { BackupTimes } from '../../adapters/kysely/copies/database-copies.ts';
import { Census, type CensusPorts } from '../../adapters/schedule/census.ts';
import type { Domains } from '../../domains/domains.ts';
import type { Notifications, WebhookCalls } from '../../notifications/notifications.ts';
import type { Sites } from '../../sites/sites.ts';

interface Counting {
  readonly domains: Pick<Domains, 'countDomains'>;
  readonly sites: Pick<Sites, 'countDeploys'>;
  readonly webhooks: Pick<WebhookCalls, 'countWebhooks'>;
  readonly notifications: Pick<Notifications, 'countMails'>;
  readonly backups: () => Promise<BackupTimes>;
}

const countStored = async (counting: Counting, isStopping: () => boolean) => {
  const { domains, sites, webhooks, notifications, backups } = counting;
  return {
    ...(await domains.countDomains(isStopping)),
    deploys: await sites.countDeploys(),
    webhooks: await webhooks.countWebhooks(),
    mails: await notifications.countMails(),
    backups: await backups(),
  };
};

export type StoredCensus = Census<Awaited<ReturnType<typeof countStored>>>;

/** Counts what the database holds. */
export const storedCensus = (counting: Counting, ports: CensusPorts): StoredCensus =>
  new Census((isStopping) => countStored(counting, isStopping), ports);
