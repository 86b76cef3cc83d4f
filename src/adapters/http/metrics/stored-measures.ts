import { maxOf, type Measure } from './measure.ts';

const counting = 'the one worker that counts';

/**
 * Measures of what the database holds. Every process that shows one shows the same number, so the largest is right, and
 * never their sum.
 */
export const storedMeasures = {
  outbox_deliveries: {
    ...maxOf,
    labels: ['state'],
    help: 'Deliveries of events that are not done, by state; at most 10000 of each are counted',
    from: 'every process',
  },
  outbox_oldest_age_seconds: {
    ...maxOf,
    unit: 'seconds',
    labels: ['state'],
    help: 'Age of the event of the oldest of these deliveries; 0 if there is none',
    from: 'every process',
  },
  census_timestamp_seconds: {
    ...maxOf,
    unit: 'seconds',
    labels: [],
    help: 'When a worker last counted what the database holds; it does so at least every 5 minutes',
    from: counting,
  },
  custom_domains: {
    ...maxOf,
    labels: ['state', 'health', 'actor'],
    help: 'Custom domains by state, and the live ones by health and by who must act',
    from: counting,
  },
  served_certificates: {
    ...maxOf,
    labels: ['state', 'percent_left'],
    help: 'Certificates of custom domains and of projects by state and by the percentage of their lifetime that is left',
    from: counting,
  },
  authority_budget_left: {
    ...maxOf,
    labels: ['authority', 'budget'],
    help: 'Orders that we may still place at the authority within the window of the budget',
    from: counting,
  },
  authority_budget_size: {
    ...maxOf,
    labels: ['authority', 'budget'],
    help: 'Orders that the budget allows in all',
    from: counting,
  },
  deploys: {
    ...maxOf,
    labels: ['state'],
    help: 'Deploys that are kept, by state',
    from: counting,
  },
  mails_waiting: {
    ...maxOf,
    labels: [],
    help: 'Mails that should have been sent by now; at most 10000 are counted',
    from: `${counting}, with \`SMTP_URL\``,
  },
  mail_oldest_age_seconds: {
    ...maxOf,
    unit: 'seconds',
    labels: [],
    help: 'Time since the oldest of these was first to be sent; 0 if there is none',
    from: `${counting}, with \`SMTP_URL\``,
  },
  mail_unreached_people: {
    ...maxOf,
    labels: [],
    help: 'People whose mail server refused the last mail to them, or did not take it within a day',
    from: `${counting}, with \`SMTP_URL\``,
  },
  deploys_kept_bytes: {
    ...maxOf,
    unit: 'bytes',
    labels: [],
    help: 'Unpacked size of all deploys that are kept',
    from: counting,
  },
  webhook_deliveries: {
    ...maxOf,
    labels: [],
    help: 'Deliveries to webhooks that wait for their first or next attempt; at most 10000 are counted',
    from: counting,
  },
  webhook_overdue_seconds: {
    ...maxOf,
    unit: 'seconds',
    labels: [],
    help: 'How long the oldest delivery to a webhook that is due has been due; 0 if none is',
    from: counting,
  },
  webhooks_given_up: {
    ...maxOf,
    labels: [],
    help: 'Webhooks that we switched off because their receiver answered 410 or failed for five days',
    from: counting,
  },
  last_backup_timestamp_seconds: {
    ...maxOf,
    unit: 'seconds',
    labels: [],
    help: 'The moment of the last complete backup; not shown before there is one',
    from: counting,
  },
  last_checked_backup_timestamp_seconds: {
    ...maxOf,
    unit: 'seconds',
    labels: [],
    help: 'The moment of the newest backup that a check found whole; not shown before there is one',
    from: counting,
  },
  backups_known_since_timestamp_seconds: {
    ...maxOf,
    unit: 'seconds',
    labels: [],
    help: 'Since when backups are remembered: the installation',
    from: counting,
  },
} as const satisfies Readonly<Record<string, Measure>>;
