import type { Metrics } from '../../adapters/http/metrics/metrics.ts';
import type { BackupTimes } from '../../adapters/kysely/copies/database-copies.ts';
import { Census, type CensusPorts } from '../../adapters/schedule/census.ts';
import type { Domains } from '../../domains/domains.ts';
import type { Notifications } from '../../notifications/notifications.ts';
import { deployStates } from '../../sites/domain/deploy.ts';
import type { WebhookCalls } from '../../notifications/webhooks.ts';
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

type Read = NonNullable<ReturnType<StoredCensus['read']>>;

/** Counts what the database holds. */
export const storedCensus = (counting: Counting, ports: CensusPorts): StoredCensus =>
  new Census((isStopping) => countStored(counting, isStopping), ports);

export const showCensus = (metrics: Metrics, census: Pick<StoredCensus, 'read'>): void => {
  const names = [
    ...['census_timestamp_seconds', 'custom_domains', 'served_certificates'],
    ...['authority_budget_left', 'authority_budget_size', 'deploys', 'deploys_kept_bytes'],
    ...['webhook_deliveries', 'webhook_overdue_seconds', 'webhooks_given_up'],
  ] as const;
  metrics.show(names, () => figuresOf(census.read()));
  metrics.show(
    [
      ...['last_backup_timestamp_seconds', 'last_checked_backup_timestamp_seconds'],
      'backups_known_since_timestamp_seconds',
    ] as const,
    () => backupFigures(census.read()?.counts.backups),
  );
  metrics.show(['mails_waiting', 'mail_oldest_age_seconds', 'mail_unreached_people'], () =>
    mailFigures(census.read()),
  );
};

const figuresOf = ({ at, counts }: Partial<Read> = {}) => {
  const { domains, certificates, budgets, deploys, webhooks } = counts ?? {};
  return {
    census_timestamp_seconds: at ? at.getTime() / 1000 : undefined,
    custom_domains: domains?.map(({ count, ...labels }) => ({ labels, value: count })),
    served_certificates: certificates?.map(({ count, state, percentLeft }) => {
      return { labels: { state, percent_left: percentLeft }, value: count };
    }),
    authority_budget_left: budgets?.map(({ authority, budget, left }) => {
      return { labels: { authority, budget }, value: left };
    }),
    authority_budget_size: budgets?.map(({ authority, budget, size }) => {
      return { labels: { authority, budget }, value: size };
    }),
    deploys:
      deploys &&
      deployStates.map((state) => {
        return { labels: { state }, value: deploys.byState[state] };
      }),
    deploys_kept_bytes: deploys?.keptBytes,
    webhook_deliveries: webhooks?.waiting,
    webhook_overdue_seconds: webhooks?.overdueSeconds,
    webhooks_given_up: webhooks?.givenUp,
  };
};

const backupFigures = ({ since, made, checked }: Partial<BackupTimes> = {}) => {
  const seconds = (moment: Date | undefined) => (moment ? moment.getTime() / 1000 : undefined);
  return {
    backups_known_since_timestamp_seconds: seconds(since),
    last_backup_timestamp_seconds: seconds(made),
    last_checked_backup_timestamp_seconds: seconds(checked),
  };
};

/** None without a mail server. */
const mailFigures = ({ at, counts }: Partial<Read> = {}) => {
  const { waiting, oldest, unreached } = counts?.mails ?? {};
  const ageOf = (since: Date | undefined) =>
    at && since ? (at.getTime() - since.getTime()) / 1000 : 0;
  return {
    mails_waiting: waiting,
    mail_oldest_age_seconds: waiting === undefined ? undefined : ageOf(oldest),
    mail_unreached_people: unreached,
  };
};
