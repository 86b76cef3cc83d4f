import type { Domains } from '../../../domains/domains.ts';
import type { Notifications, WebhookCalls } from '../../../notifications/notifications.ts';
import { deployStates } from '../../../sites/domain/site.ts';
import type { Sites } from '../../../sites/sites.ts';
import { rowsOf } from './measure.ts';

// What the database holds. Every process that shows one of these shows the same number, so the largest is right, and
// never their sum.

interface OutboxRead {
  readonly counts: Readonly<Record<string, number>>;
  readonly oldest: Readonly<Record<string, Date | undefined>>;
  readonly now: Date;
}
const outbox = rowsOf<OutboxRead>('every process');
export const outboxMeasures = {
  outbox_deliveries: outbox.max(
    'Deliveries of events that are not done, by state; at most 10000 of each are counted',
    ['state'],
    ({ counts }) => Object.entries(counts).map(([state, value]) => ({ labels: { state }, value })),
  ),
  outbox_oldest_age_seconds: outbox.max(
    'Age of the event of the oldest of these deliveries; 0 if there is none',
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
    'When a worker last counted what the database holds; it does so at least every 5 minutes',
    [],
    ({ at }) => seconds(at),
  ),
  custom_domains: census.max(
    'Custom domains by state, and the live ones by health and by who must act',
    ['state', 'health', 'actor'],
    ({ counts }) => counts.domains.map(({ count, ...labels }) => ({ labels, value: count })),
  ),
  served_certificates: census.max(
    'Certificates of custom domains and of projects by state and by the percentage of their lifetime that is left',
    ['state', 'percent_left'],
    ({ counts }) =>
      counts.certificates.map(({ count, state, percentLeft }) => ({
        labels: { state, percent_left: percentLeft },
        value: count,
      })),
  ),
  authority_budget_left: census.max(
    'Orders that we may still place at the authority within the window of the budget',
    ['authority', 'budget'],
    ({ counts }) =>
      counts.budgets.map(({ authority, budget, left }) => ({
        labels: { authority, budget },
        value: left,
      })),
  ),
  authority_budget_size: census.max(
    'Orders that the budget allows in all',
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
    'Mails that should have been sent by now; at most 10000 are counted',
    [],
    ({ counts }) => counts.mails?.waiting,
  ),
  mail_oldest_age_seconds: mail.max(
    'Time since the oldest of these was first to be sent; 0 if there is none',
    [],
    ({ at, counts: { mails } }) => mails && (mails.oldest ? secondsFrom(mails.oldest, at) : 0),
  ),
  mail_unreached_people: mail.max(
    'People whose mail server refused the last mail to them, or did not take it within a day',
    [],
    ({ counts }) => counts.mails?.unreached,
  ),
  deploys_kept_bytes: census.max(
    'Unpacked size of all deploys that are kept',
    [],
    ({ counts }) => counts.deploys.keptBytes,
  ),
  webhook_deliveries: census.max(
    'Deliveries to webhooks that wait for their first or next attempt; at most 10000 are counted',
    [],
    ({ counts }) => counts.webhooks.waiting,
  ),
  webhook_overdue_seconds: census.max(
    'How long the oldest delivery to a webhook that is due has been due; 0 if none is',
    [],
    ({ counts }) => counts.webhooks.overdueSeconds,
  ),
  webhooks_given_up: census.max(
    'Webhooks that we switched off because their receiver answered 410 or failed for five days',
    [],
    ({ counts }) => counts.webhooks.givenUp,
  ),
  last_backup_timestamp_seconds: census.max(
    'The moment of the last complete backup; not shown before there is one',
    [],
    ({ counts }) => seconds(counts.backups.made),
  ),
  last_checked_backup_timestamp_seconds: census.max(
    'The moment of the newest backup that a check found whole; not shown before there is one',
    [],
    ({ counts }) => seconds(counts.backups.checked),
  ),
  backups_known_since_timestamp_seconds: census.max(
    'Since when backups are remembered: the installation',
    [],
    ({ counts }) => seconds(counts.backups.since),
  ),
};
