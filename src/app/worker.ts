import { setFlagsFromString } from 'node:v8';
import type { Container } from 'inversify';
import type { Logger } from 'pino';
import { StoredSignal } from '../kernel/signals.ts';
import { jobMeasures, type Tally } from '../adapters/http/metrics/measures.ts';
import { censusMeasures } from '../adapters/http/metrics/stored-measures.ts';
import { backupTimes } from '../adapters/kysely/copies/database-copies.ts';
import { Database } from '../adapters/kysely/database.ts';
import { CronJobs, type Job, type SleepOptions } from '../adapters/schedule/cron-jobs.ts';
import { Census, leasedJob, type CensusPorts } from '../adapters/schedule/leased-job.ts';
import { named, RunningWork } from '../adapters/system/event-loop-watch.ts';
import { Clock, Retention } from '../kernel/ports.ts';
import { JobLeases } from '../kernel/queue.ts';
import { Tracer, type Beginning } from '../kernel/tracer.ts';
import { workerJobs, type WorkerPorts } from './jobs.ts';
import {
  AccessKey,
  BellsKey,
  DomainsKey,
  LogKey,
  MetricsKey,
  NotificationsKey,
  ProcessKey,
  QueuesKey,
  SitesKey,
  WebhookCallsKey,
} from './keys.ts';
import type { Bells } from './queues.ts';
import type { Config } from './settings/settings.ts';
import { begun } from './tracing.ts';

export interface RunningRole {
  /** @param isReplaced set if another process took over the ports; aborts when this one must hurry */
  stop(isReplaced?: AbortSignal): Promise<void>;
}

export const startWorker = (
  container: Container,
  { verifierSchedule }: Config,
  log: Logger,
  sleep: SleepOptions = {},
): RunningRole => {
  letHeapGrow();
  const leasing = {
    leases: container.get(JobLeases),
    clock: container.get(Clock),
    log,
    holder: container.get(ProcessKey),
  };
  const [bells, queues] = [container.get(BellsKey), container.get(QueuesKey)];
  const census = startCensus(container, leasing);
  ringWhenStored(container.get(StoredSignal), bells);
  const tracer = container.get(Tracer, { optional: true });
  const leased: WorkerPorts['leased'] = ({ work, ...job }) => {
    const traced = (isStopping: () => boolean) =>
      begun(tracer, stepOf(job.name), () => work(isStopping));
    return leasedJob({ ...job, work: traced }, leasing);
  };
  const jobs = workerJobs({
    queues,
    bells,
    leased,
    access: container.get(AccessKey),
    domains: container.get(DomainsKey),
    sites: container.get(SitesKey),
    notifications: container.get(NotificationsKey),
    census,
    clock: leasing.clock,
    log,
    verifierSchedule,
    retention: container.get(Retention),
  });
  const cron = startJobs(container, jobs, sleep);
  return {
    stop: async () => {
      // They stop together, because the jobs wait for these queues.
      await Promise.all([cron, ...Object.values(queues)].map(async (one) => one?.stop()));
      // Without this, another worker would wait until the lease ends.
      await census.stop().catch((error: unknown) => {
        log.debug({ err: error }, 'lease of a job not released');
      });
    },
  };
};

/** Counts what the database has, for the measures that all processes share. */
const startCensus = (container: Container, leasing: CensusPorts) => {
  const [domains, sites] = [container.get(DomainsKey), container.get(SitesKey)];
  const [webhooks, notifications] = [
    container.get(WebhookCallsKey),
    container.get(NotificationsKey),
  ];
  const database = container.get(Database);
  const census = new Census(
    async (isStopping) => ({
      ...(await domains.countDomains(isStopping)),
      deploys: await sites.countDeploys(),
      webhooks: await webhooks.countWebhooks(),
      mails: await notifications.countMails(),
      backups: await backupTimes(database),
    }),
    leasing,
  );
  container.get(MetricsKey).show(censusMeasures, () => census.read());
  return census;
};

/** Starts the work on whatever is stored at once instead of at its next scheduled run. */
const ringWhenStored = (stored: StoredSignal, bells: Bells): void => {
  stored.listen((_accountIds, hasDeliveries) => {
    bells.domains.ring('soon');
    bells.renewals.ring();
    if (!hasDeliveries) return;
    bells.events.ring();
    bells.mails.ring();
  });
};

/** Lets the heap grow. With its small initial heap, V8 would mark the old generation repeatedly during many checks. */
const letHeapGrow = (): void => {
  setFlagsFromString('--heap-growing-percent=0');
};

export const startJobs = (
  container: Container,
  jobs: readonly Job[],
  sleep: SleepOptions = {},
): CronJobs => {
  const metrics = container.get(MetricsKey);
  const observers = {
    metrics,
    running: container.get(RunningWork),
    tracer: container.get(Tracer, { optional: true }),
  };
  const cron = new CronJobs(observedJobs(observers, jobs), container.get(LogKey), sleep);
  metrics.show(jobMeasures, () => cron.state());
  return cron;
};

interface Observers {
  readonly metrics: Tally;
  readonly running: RunningWork;
  readonly tracer?: Tracer | undefined;
}

const outcomes = ['succeeded', 'failed'] as const;

/** Counts and times each run, traces it, and names it if it blocks the process. */
export const observedJobs = (
  { metrics, running, tracer }: Observers,
  jobs: readonly Job[],
): readonly Job[] =>
  jobs.map((job) => {
    const { name, isTraced = false } = job;
    const labels = { job_name: name };
    const count = (outcome: (typeof outcomes)[number], by = 1) => {
      metrics.count('job_runs_total', { ...labels, outcome }, by);
    };
    for (const outcome of outcomes) count(outcome, 0);
    const work = (isStopping: () => boolean) =>
      begun(isTraced ? tracer : undefined, stepOf(name), () => job.run(isStopping));
    const run: Job['run'] = async (isStopping) => {
      const begunAt = performance.now();
      try {
        const result = await running.during(named('job', name), () => work(isStopping));
        if (result !== 'elsewhere') count('succeeded');
        return result;
      } catch (error) {
        count('failed');
        throw error;
      } finally {
        metrics.time('job_duration_seconds', labels, (performance.now() - begunAt) / 1000);
      }
    };
    return { ...job, run };
  });

const stepOf = (name: string): Beginning => ({ name, kind: 'internal', facts: {} });
