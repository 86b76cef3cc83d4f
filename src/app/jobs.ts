import { setTimeout as delay } from 'node:timers/promises';
import type { Access } from '../access/access.ts';
import type {
  CounterKeeper,
  HighUseReporter,
  UsageRecorder,
} from '../adapters/metering/usage-recorder.ts';
import type { Census, leasedJob } from '../adapters/schedule/leased-job.ts';
import { asJob, type Job, type JobEnd } from '../adapters/schedule/cron-jobs.ts';
import type { Domains } from '../domains/domains.ts';
import { hourMs } from '../kernel/durations.ts';
import { earliest, type Clock, type Retention } from '../kernel/ports.ts';
import type { Notifications } from '../notifications/notifications.ts';
import type { Sites } from '../sites/sites.ts';
import type { Logger } from 'pino';
import type { Bells, Queues } from './queues.ts';
import { sweptTables } from './retention.ts';

const mostJitterMs = 800;
const mostSpreadMs = 250;

export interface WorkerPorts {
  readonly queues: Queues;
  readonly bells: Bells;
  readonly leased: (work: Parameters<typeof leasedJob>[0]) => Job['run'];
  readonly retention: Retention;
  readonly sites: Pick<
    Sites,
    'endOldProjects' | 'endProjectsOf' | 'endsDueAt' | 'giveUpCutOffUploads' | 'uploadsCutOffAt'
  >;
  readonly domains: Pick<
    Domains,
    'endDomains' | 'forgetOwnNames' | 'planRenewals' | 'secureSites' | 'sitesDueAt'
  >;
  readonly notifications: Pick<Notifications, 'isMailOn'>;
  readonly access: Pick<
    Access,
    | 'accountsToEnd'
    | 'answerMailRequests'
    | 'endAccount'
    | 'endsDueAt'
    | 'mailRequestsDueAt'
    | 'removalsDueAt'
    | 'warnOfRemovals'
  >;
  readonly census: Pick<Census<unknown>, 'news' | 'run'>;
  readonly verifierSchedule: string;
  readonly clock: Clock;
  readonly log: Pick<Logger, 'warn'>;
}

export const workerJobs = (ports: WorkerPorts): readonly Job[] => [
  ...queueJobs(ports),
  {
    name: 'give up cut-off uploads',
    schedule: '29 */5 * * * *',
    isTraced: true,
    run: async (isStopping) => {
      await ports.sites.giveUpCutOffUploads(isStopping);
      return { nextAt: await ports.sites.uploadsCutOffAt() };
    },
  },
  shared(ports, {
    name: 'issue and renew certificates',
    schedule: '13 * * * * *',
    news: ports.bells.certificates,
    work: asJob((isStopping) => ports.domains.secureSites(isStopping)),
    dueAt: () => ports.domains.sitesDueAt(),
  }),
  {
    name: 'delete certificates of our own that nobody needs',
    schedule: '23 58 * * * *',
    run: asJob((isStopping) => ports.domains.forgetOwnNames(isStopping)),
  },
  {
    gathersNews: true,
    ...shared(ports, {
      name: 'plan renewals',
      schedule: '47 */5 * * * *',
      news: ports.bells.renewals,
      work: planningRenewals(ports),
    }),
  },
  {
    name: 'count what is stored',
    schedule: '*/15 * * * * *',
    isAtStart: true,
    isShared: true,
    isTraced: true,
    gathersNews: true,
    news: ports.census.news,
    run: (isStopping) => ports.census.run(isStopping),
  },
  shared(ports, {
    name: 'tell of operations that end',
    schedule: '53 41 * * * *',
    work: asJob((isStopping) => ports.access.warnOfRemovals(isStopping)),
    dueAt: () => ports.access.removalsDueAt(),
  }),
  shared(ports, {
    name: 'end what was deleted',
    schedule: '37 */10 * * * *',
    work: asJob((isStopping) => endDeleted(ports, isStopping)),
    dueAt: async () => earliest([await ports.sites.endsDueAt(), await ports.access.endsDueAt()]),
  }),
  ...(ports.notifications.isMailOn ? [mailingPeople(ports)] : []),
  ...forgetting(ports),
];

/** A kind of queued work without a job does not compile. */
const queueJobs = ({ queues, verifierSchedule }: WorkerPorts): readonly Job[] => {
  const { events, webhooks, domains, mails } = queues;
  const schedule = '* * * * * *';
  const jobs: Readonly<Record<keyof Queues, Job | undefined>> = {
    events: { name: 'relay events', schedule, ...queue(events) },
    webhooks: { name: 'call webhooks', schedule, ...queue(webhooks) },
    domains: {
      name: 'check domains and work on their certificates',
      schedule: verifierSchedule,
      news: domains.news,
      run: spread(() => domains.run()),
    },
    mails: mails && { name: 'send mail', schedule, ...queue(mails) },
  };
  return Object.values(jobs).flatMap((job) => job ?? []);
};

/** Ends projects and accounts that were not restored in time. An account ends in a later run than its projects. */
const endDeleted = async (
  { sites, domains, access }: Pick<WorkerPorts, 'sites' | 'domains' | 'access'>,
  isStopping: () => boolean,
): Promise<void> => {
  const ending = { endDomains: (projectId: string) => domains.endDomains(projectId), isStopping };
  await sites.endOldProjects(ending);
  for (const { id } of await access.accountsToEnd()) {
    if (isStopping()) return;
    await sites.endProjectsOf(id, ending);
    await access.endAccount(id);
  }
};

/** Delays mails at random, because slower answers during mails would reveal whether an address is known. */
const mailingPeople = (ports: WorkerPorts): Job => {
  const job = shared(ports, {
    name: 'mail people',
    schedule: '* * * * * *',
    news: ports.bells.mailRequests,
    work: asJob((isStopping) => ports.access.answerMailRequests(isStopping)),
    dueAt: () => ports.access.mailRequestsDueAt(),
  });
  const run: Job['run'] = async (isStopping) => {
    await delay(Math.random() * mostJitterMs);
    return job.run(isStopping);
  };
  return { ...job, gathersNews: true, run };
};

const planningRenewals =
  ({ domains, bells, log }: WorkerPorts): Job['run'] =>
  async (isStopping) => {
    const { planned, ignored, nextAt } = await domains.planRenewals(isStopping);
    for (const window of ignored) {
      log.warn(window, 'ignoring an invalid renewal window of the authority');
    }
    if (planned > 0) {
      bells.domains.ring();
      bells.certificates.ring();
    }
    return { nextAt };
  };

const queue = (work: Queue): Pick<Job, 'news' | 'run'> => ({
  news: work.news,
  run: async () => ({ nextAt: await work.run() }),
});

/** Adds a random delay, so that processes do not claim the same work at the same moment. */
const spread =
  (run: Queue['run']): Job['run'] =>
  async () => {
    const nextAt = await run();
    // A time in the past must stay in the past, so that the job waits for its schedule.
    if (!nextAt || nextAt.getTime() <= Date.now()) return { nextAt };
    return { nextAt: new Date(nextAt.getTime() + Math.random() * mostSpreadMs) };
  };

type Queue = Queues['events'];

type SharedWork = Parameters<WorkerPorts['leased']>[0] & Pick<Job, 'schedule' | 'news'>;

const shared = (
  { leased }: Pick<WorkerPorts, 'leased'>,
  { schedule, news, ...work }: SharedWork,
): Job => ({ name: work.name, schedule, isShared: true, run: leased(work), ...(news && { news }) });

/** Makes one job per table, so that a failure does not affect other tables. They run at different minutes. */
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

export const apiJobs = (
  usage: UsageRecorder,
  highUses: HighUseReporter,
  counters: CounterKeeper | undefined,
): readonly Job[] => [
  ...(counters ? [keepingCounters(counters)] : []),
  {
    name: 'store usage',
    schedule: '*/5 * * * * *',
    news: usage.news,
    gathersNews: true,
    run: async () => {
      await usage.flush();
      return { nextAt: undefined };
    },
  },
  {
    name: 'tell of quotas',
    schedule: '*/5 * * * * *',
    news: highUses.news,
    gathersNews: true,
    run: async () => ((await highUses.flush()) ? { nextAt: undefined } : 'done'),
  },
];

const keepingCounters = (counters: CounterKeeper): Job => ({
  name: 'keep counters',
  schedule: '* * * * * *',
  news: counters.news,
  gathersNews: true,
  run: async () => {
    await counters.save();
    return { nextAt: undefined };
  },
});
