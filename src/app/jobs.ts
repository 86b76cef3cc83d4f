import { setTimeout as delay } from 'node:timers/promises';
import type { CounterKeeper } from '../adapters/metering/counter-keeper.ts';
import type { HighUseReporter } from '../adapters/metering/high-use-reporter.ts';
import type { UsageRecorder } from '../adapters/metering/usage-recorder.ts';
import type { MailPump } from '../adapters/schedule/mail-pump.ts';
import type { OutboxRelay } from '../adapters/events/outbox-relay.ts';
import type { Census } from '../adapters/schedule/census.ts';
import { asJob, type Job, type JobEnd } from '../adapters/schedule/cron-jobs.ts';
import type { Bell } from '../kernel/bell.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Retention } from '../kernel/retention.ts';
import type { LeasedJob } from '../adapters/schedule/leased-job.ts';
import type { DueDomains } from '../adapters/schedule/due-domains.ts';
import type { WebhookPump } from '../adapters/schedule/webhook-pump.ts';
import type { Domains } from '../domains/domains.ts';
import type { Sites } from '../sites/sites.ts';
import { sweptTables } from './retention.ts';

const hourMs = 60 * 60_000;
/** Of the job that mails people. */
const mostJitterMs = 800;
/** Of the search for due domains. */
const mostSpreadMs = 250;

export interface WorkerPorts {
  readonly relay: OutboxRelay;
  readonly retention: Retention;
  readonly sites: Pick<Sites, 'giveUpCutOffUploads' | 'uploadsCutOffAt'>;
  readonly domains: Pick<Domains, 'forgetOwnNames'>;
  readonly secureSites: LeasedJob;
  readonly planRenewals: LeasedJob;
  readonly warnOfRemovals: LeasedJob;
  /** Undefined where there is no mail server. */
  readonly mailPump: MailPump | undefined;
  /** Answers requests for mails to people; undefined where no mail is sent. */
  readonly mailPeople: LeasedJob | undefined;
  readonly webhookPump: WebhookPump;
  readonly dueDomains: DueDomains;
  readonly census: Pick<Census<unknown>, 'news' | 'run'>;
  /** node-cron expression. */
  readonly verifierSchedule: string;
  readonly clock: Clock;
}

export const workerJobs = (ports: WorkerPorts): readonly Job[] => [
  { name: 'relay events', schedule: '* * * * * *', ...queue(ports.relay) },
  { name: 'call webhooks', schedule: '* * * * * *', ...queue(ports.webhookPump) },
  {
    name: 'give up cut-off uploads',
    schedule: '29 */5 * * * *',
    isTraced: true,
    run: async (isStopping) => {
      await ports.sites.giveUpCutOffUploads(isStopping);
      return { nextAt: await ports.sites.uploadsCutOffAt() };
    },
  },
  {
    name: 'issue and renew certificates',
    schedule: '13 * * * * *',
    ...shared(ports.secureSites),
  },
  {
    name: 'delete certificates of our own that nobody needs',
    schedule: '23 58 * * * *',
    run: asJob((isStopping) => ports.domains.forgetOwnNames(isStopping)),
  },
  {
    name: 'check domains and work on their certificates',
    schedule: ports.verifierSchedule,
    news: ports.dueDomains.news,
    run: spread(() => ports.dueDomains.run()),
  },
  {
    name: 'plan renewals',
    schedule: '47 */5 * * * *',
    gathersNews: true,
    ...shared(ports.planRenewals),
  },
  {
    name: 'count what is stored',
    schedule: '*/15 * * * * *',
    ...{ isAtStart: true, isShared: true, isTraced: true, gathersNews: true },
    news: ports.census.news,
    run: (isStopping) => ports.census.run(isStopping),
  },
  {
    name: 'tell of operations that end',
    schedule: '53 41 * * * *',
    ...shared(ports.warnOfRemovals),
  },
  ...sendingMail(ports),
  ...forgetting(ports),
];

const sendingMail = ({ mailPump, mailPeople }: WorkerPorts): readonly Job[] => [
  ...(mailPump ? [{ name: 'send mail', schedule: '* * * * * *', ...queue(mailPump) }] : []),
  ...(mailPeople ? [mailingPeople(mailPeople)] : []),
];

/**
 * Waits a random time first, and news of a request waits for the next second. Work for a known address slows down other
 * answers of the process; the delays keep that from revealing whether the address of a single request is known.
 */
const mailingPeople = (job: LeasedJob): Job => ({
  ...{ name: 'mail people', schedule: '* * * * * *', gathersNews: true },
  ...shared(job),
  run: async () => {
    await delay(Math.random() * mostJitterMs);
    return job.run();
  },
});

interface Queue {
  readonly news: Bell;
  run(): Promise<Date | undefined>;
}

const queue = (work: Queue): Pick<Job, 'news' | 'run'> => ({
  news: work.news,
  run: async () => ({ nextAt: await work.run() }),
});

/** Delays runs by a random time: otherwise all processes would try to claim the same work at the same moment. */
const spread =
  (run: Queue['run']): Job['run'] =>
  async () => {
    const nextAt = await run();
    // A time that has passed must stay in the past: then the job waits for its schedule.
    if (!nextAt || nextAt.getTime() <= Date.now()) return { nextAt };
    return { nextAt: new Date(nextAt.getTime() + Math.random() * mostSpreadMs) };
  };

const shared = (job: LeasedJob): Pick<Job, 'news' | 'run' | 'isShared'> => ({
  news: job.news,
  isShared: true,
  run: () => job.run(),
});

/** Each table by itself, so that a failure does not affect the others; not all in the same minute. */
const forgetting = ({ retention, clock }: Pick<WorkerPorts, 'retention' | 'clock'>) =>
  sweptTables.map(({ table, what, keptMs }, at): Job => ({
    name: `forget ${what}`,
    schedule: `17 ${String(3 * at + 3)} * * * *`,
    isTraced: true,
    run: async (isStopping): Promise<JobEnd> => {
      const now = clock.now().getTime();
      const oldAt = ((await retention.oldest(table))?.getTime() ?? now) + keptMs;
      if (oldAt > now) return { nextAt: new Date(Math.max(oldAt, now + hourMs)) };
      await retention.sweep(table, new Date(now - keptMs), isStopping);
      return 'done';
    },
  }));

/** The scheduled jobs of a process that answers API requests. @param counters undefined where Redis counts */
export const apiJobs = (
  usage: UsageRecorder,
  highUses: HighUseReporter,
  counters: CounterKeeper | undefined,
): readonly Job[] => [
  ...(counters ? [keepingCounters(counters)] : []),
  {
    ...{ name: 'store usage', schedule: '*/5 * * * * *', news: usage.news, gathersNews: true },
    run: async () => {
      await usage.flush();
      return { nextAt: undefined };
    },
  },
  {
    ...{
      name: 'tell of quotas',
      schedule: '*/5 * * * * *',
      news: highUses.news,
      gathersNews: true,
    },
    run: async () => ((await highUses.flush()) ? { nextAt: undefined } : 'done'),
  },
];

const keepingCounters = (counters: CounterKeeper): Job => ({
  ...{ name: 'keep counters', schedule: '* * * * * *', news: counters.news, gathersNews: true },
  run: async () => {
    await counters.save();
    return { nextAt: undefined };
  },
});
