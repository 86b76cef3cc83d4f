import type { Container } from 'inversify';
import { CronJobs, type Job, type SleepOptions } from '../adapters/schedule/cron-jobs.ts';
import { RunningWork } from '../adapters/system/running-work.ts';
import { Tracer } from '../kernel/tracer.ts';
import { LogKey, MetricsKey } from './keys.ts';
import { measuredJobs } from './measures/measured-jobs.ts';
import { showJobs } from './measures/show-jobs.ts';
import { tracedJobs } from './tracing.ts';
import { watchedJobs } from './watched-work.ts';

/** Runs jobs when they have work; all of them are measured and watched. */
export const startJobs = (
  container: Container,
  jobs: readonly Job[],
  sleep: SleepOptions = {},
): CronJobs => {
  const log = container.get(LogKey);
  const metrics = container.get(MetricsKey);
  const tracer = container.get(Tracer, { optional: true });
  const watched = watchedJobs(container.get(RunningWork), tracedJobs(tracer, jobs));
  const cron = new CronJobs(measuredJobs(metrics, watched), log, sleep);
  showJobs(metrics, cron);
  return cron;
};
