import type { CounterKeeper } from '../adapters/metering/counter-keeper.ts';
import type { HighUseReporter } from '../adapters/metering/high-use-reporter.ts';
import type { UsageRecorder } from '../adapters/metering/usage-recorder.ts';
import type { MailPump } from '../adapters/schedule/mail-pump.ts';
import type { OutboxRelay } from '../adapters/events/outbox-relay.ts';
import type { Census } from '../adapters/schedule/census.ts';
import type { Job } from '../adapters/schedule/cron-jobs.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Retention } from '../kernel/retention.ts';
import type { LeasedJob } from '../adapters/schedule/leased-job.ts';
import type { DueDomains } from '../adapters/schedule/due-domains.ts';
import type { WebhookPump } from '../adapters/schedule/webhook-pump.ts';
import type { Domains } from '../domains/domains.ts';
import type { Sites } from '../sites/sites.ts';
import { sweptTables } from './retention.ts';

export interface WorkerPorts {
  readonly relay: OutboxRelay;
  readonly retention: Retention;
  readonly sites: Pick<Sites, 'giveUpCutOffUploads'>;
  readonly domains: Pick<Domains, 'forgetOwnNames'>;
  readonly secureSites: LeasedJob;
  readonly planRenewals: LeasedJob;
  readonly watchDomains: LeasedJob;
  readonly watchRemovals: LeasedJob;
  /** Undefined where there is no mail server. */
  readonly mailPump: MailPump | undefined;
  /** Answers requests for mails to people, if there are any; undefined where no mail is sent. */
  readonly mailPeople: (() => Promise<boolean>) | undefined;
  readonly webhookPump: WebhookPump;
  readonly dueDomains: DueDomains;
  readonly census: Pick<Census<unknown>, 'run'>;
  /** node-cron expression. */
  readonly verifierSchedule: string;
  readonly clock: Clock;
}

export const workerJobs = (ports: WorkerPorts): readonly Job[] => [
  { name: 'relay events', schedule: '* * * * * *', run: () => ports.relay.run() },
  { name: 'call webhooks', schedule: '* * * * * *', run: () => ports.webhookPump.run() },
  {
    name: 'give up cut-off uploads',
    schedule: '29 */5 * * * *',
    isTraced: true,
    run: (isStopping) => ports.sites.giveUpCutOffUploads(isStopping),
  },
  {
    name: 'issue and renew certificates',
    schedule: '13 * * * * *',
    isShared: true,
    run: () => ports.secureSites.run(),
  },
  {
    name: 'delete certificates of our own that nobody needs',
    schedule: '23 58 * * * *',
    run: (isStopping) => ports.domains.forgetOwnNames(isStopping),
  },
  {
    name: 'check domains and work on their certificates',
    schedule: ports.verifierSchedule,
    run: () => ports.dueDomains.run(),
  },
  {
    name: 'plan renewals',
    schedule: '47 */5 * * * *',
    isShared: true,
    run: () => ports.planRenewals.run(),
  },
  {
    name: 'count what is stored',
    schedule: '*/15 * * * * *',
    ...{ isAtStart: true, isShared: true, isTraced: true },
    run: (isStopping) => ports.census.run(isStopping),
  },
  {
    name: 'tell of domains in trouble',
    schedule: '37 * * * * *',
    isShared: true,
    run: () => ports.watchDomains.run(),
  },
  {
    name: 'tell of operations that end',
    schedule: '53 41 * * * *',
    isShared: true,
    run: () => ports.watchRemovals.run(),
  },
  ...sendingMail(ports),
  ...forgetting(ports),
];

const sendingMail = ({ mailPump, mailPeople }: WorkerPorts): readonly Job[] => [
  ...(mailPump ? [{ name: 'send mail', schedule: '* * * * * *', run: () => mailPump.run() }] : []),
  ...(mailPeople
    ? [{ name: 'mail people', schedule: '* * * * * *', isShared: true as const, run: mailPeople }]
    : []),
];

/** Each table by itself, so that a failure does not affect the others; not all in the same minute. */
const forgetting = ({ retention, clock }: Pick<WorkerPorts, 'retention' | 'clock'>) =>
  sweptTables.map(({ table, what, keptMs }, at): Job => ({
    name: `forget ${what}`,
    schedule: `17 ${String(3 * at + 3)} * * * *`,
    isTraced: true,
    run: (isStopping) =>
      retention.sweep(table, new Date(clock.now().getTime() - keptMs), isStopping),
  }));

/** The scheduled jobs of a process that answers API requests. @param counters undefined where Redis counts */
export const apiJobs = (
  usage: UsageRecorder,
  highUses: HighUseReporter,
  counters: CounterKeeper | undefined,
): readonly Job[] => [
  ...(counters
    ? [{ name: 'keep counters', schedule: '* * * * * *', run: () => counters.save() }]
    : []),
  { name: 'store usage', schedule: '*/5 * * * * *', run: () => usage.flush() },
  { name: 'tell of quotas', schedule: '*/5 * * * * *', run: () => highUses.flush() },
];
