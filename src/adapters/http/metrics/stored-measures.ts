import type { Domains } from '../../../domains/domains.ts';
import type { Notifications, WebhookCalls } from '../../../notifications/notifications.ts';
import { deployStates } from '../../../sites/domain/site.ts';
import type { Sites } from '../../../sites/sites.ts';
import { rowsOf } from './measure.ts';

// These values come from the database, so every process shows the same number: combine them with `max`, not as a sum.

interface OutboxRead {
  readonly counts: Readonly<Record<string, number>>;
  readonly oldest: Readonly<Record<string, Date | undefined>>;
  readonly now: Date;
}
const outbox = rowsOf<OutboxRead>('every process');
export const outboxMeasures = {
  outbox_deliveries: outbox.max(
    'Unfinished deliveries of events by state; counted up to 10000 each',
    ['state'],
    ({ counts }) => Object.entries(counts).map(([state, value]) => ({ labels: { state }, value })),
  ),
  outbox_oldest_age_seconds: outbox.max(
    'Age of the oldest unfinished event; 0 if there is none',
    ['state'],
    ({ counts, oldest, now }) =>
      Object.keys(counts).map((state) => {
        const since = oldest[state] ?? now;
        return { labels: { state }, value: Math.max(0, secondsFrom(since, now)) };
      }),
  ),
};

type Counted<Count extends (...parameters: never[]) => Promise<unknown>> = Awaited<
  ReturnType<Count>
>;

interface CensusRead {
  readonly at: Date;
  readonly counts: Counted<Domains['countDomains']> & {
    readonly deploys: Counted<Sites['countDeploys']>;
    readonly webhooks: Counted<WebhookCalls['countWebhooks']>;
    readonly mails: Counted<Notifications['countMails']>;
    readonly backups: {
      readonly since: Date;
      readonly made: Date | undefined;
      readonly checked: Date | undefined;
    };
  };
}

const seconds = (moment: Date | undefined) => (moment ? moment.getTime() / 1000 : undefined);
const secondsFrom = (since: Date, now: Date) => (now.getTime() - since.getTime()) / 1000;

const counting = 'the one worker that counts';
const census = rowsOf<CensusRead>(counting);
const mail = rowsOf<CensusRead>(`${counting}, with \`SMTP_URL\``);

export const censusMeasures = {
  census_timestamp_seconds: census.max(
    'When a worker last counted the rows of the database, which it does at least every 5 minutes',
    [],
    ({ at }) => seconds(at),
  ),
  custom_domains: census.max(
    'Custom domains by state; live ones also by health and by who must act',
    ['state', 'health', 'actor'],
    ({ counts }) => counts.domains.map(({ count, ...labels }) => ({ labels, value: count })),
  ),
  served_certificates: census.max(
    'Certificates of custom domains and of projects by state and by the percentage of their lifetime left',
    ['state', 'percent_left'],
    ({ counts }) =>
      counts.certificates.map(({ count, state, percentLeft }) => ({
        labels: { state, percent_left: percentLeft },
        value: count,
      })),
  ),
  authority_budget_left: census.max(
    'Orders left in the current window of the budget',
    ['authority', 'budget'],
    ({ counts }) =>
      counts.budgets.map(({ authority, budget, left }) => ({
        labels: { authority, budget },
        value: left,
      })),
  ),
  authority_budget_size: census.max(
    'Orders that the budget allows in a window',
    ['authority', 'budget'],
    ({ counts }) =>
      counts.budgets.map(({ authority, budget, size }) => ({
        labels: { authority, budget },
        value: size,
      })),
  ),
  deploys: census.max('Deploys that are kept, by state', ['state'], ({ counts: { deploys } }) =>
    deployStates.map((state) => ({ labels: { state }, value: deploys.byState[state] })),
  ),
  mails_waiting: mail.max(
    'Overdue mails; counted up to 10000',
    [],
    ({ counts }) => counts.mails?.waiting,
  ),
  mail_oldest_age_seconds: mail.max(
    'How long the oldest mail has been overdue; 0 if there is none',
    [],
    ({ at, counts: { mails } }) => mails && (mails.oldest ? secondsFrom(mails.oldest, at) : 0),
  ),
  mail_unreached_people: mail.max(
    'People whose last mail was refused or not accepted within a day',
    [],
    ({ counts }) => counts.mails?.unreached,
  ),
  deploys_kept_bytes: census.max(
    'Unpacked size of all deploys that are kept',
    [],
    ({ counts }) => counts.deploys.keptBytes,
  ),
  webhook_deliveries: census.max(
    'Deliveries to webhooks that wait for an attempt; counted up to 10000',
    [],
    ({ counts }) => counts.webhooks.waiting,
  ),
  webhook_overdue_seconds: census.max(
    'How long the oldest delivery to a webhook has been due; 0 if there is none',
    [],
    ({ counts }) => counts.webhooks.overdueSeconds,
  ),
  webhooks_given_up: census.max(
    'Webhooks switched off because their receiver answered 410 or failed for five days',
    [],
    ({ counts }) => counts.webhooks.givenUp,
  ),
  last_backup_timestamp_seconds: census.max(
    'Time of the last complete backup; absent before the first one',
    [],
    ({ counts }) => seconds(counts.backups.made),
  ),
  last_checked_backup_timestamp_seconds: census.max(
    'Time of the newest backup that passed a check; absent before the first one',
    [],
    ({ counts }) => seconds(counts.backups.checked),
  ),
  backups_known_since_timestamp_seconds: census.max(
    'Time of the installation, since when backups are recorded',
    [],
    ({ counts }) => seconds(counts.backups.since),
  ),
};
