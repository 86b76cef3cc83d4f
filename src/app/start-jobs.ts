import type { Container } from 'inversify';
import type { Logger } from 'pino';
import { CronJobs, type Job } from '../adapters/schedule/cron-jobs.ts';
import { RunningWork } from '../adapters/system/running-work.ts';
import { Tracer } from '../kernel/tracer.ts';
import { MetricsKey } from './keys.ts';
import { measuredJobs } from './measures/measured-jobs.ts';
import { showJobs } from './measures/show-jobs.ts';
import { tracedJobs } from './tracing.ts';
import { watchedJobs } from './watched-work.ts';

/** Runs jobs on their schedules; all of them are measured and watched. */
export const startJobs = (container: Container, jobs: readonly Job[], log: Logger): CronJobs => {
  const metrics = container.get(MetricsKey);
  const tracer = container.get(Tracer, { optional: true });
  const watched = watchedJobs(container.get(RunningWork), tracedJobs(tracer, jobs));
  const cron = new CronJobs(measuredJobs(metrics, watched), log);
  showJobs(metrics, cron);
  return cron;
};
