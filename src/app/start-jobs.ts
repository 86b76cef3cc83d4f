import type { Container } from 'inversify';
import { jobMeasures, type Tally } from '../adapters/http/metrics/measures.ts';
import { CronJobs, type Job, type SleepOptions } from '../adapters/schedule/cron-jobs.ts';
import { named, RunningWork } from '../adapters/system/running-work.ts';
import { Tracer } from '../kernel/tracer.ts';
import { LogKey, MetricsKey } from './keys.ts';

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
  metrics.show(jobMeasures, () => cron.state());
  return cron;
};

/** The same jobs, registered while they run. */
export const watchedJobs = (running: RunningWork, jobs: readonly Job[]): readonly Job[] =>
  jobs.map((job) => {
    const work = named('job', job.name);
    return { ...job, run: (isStopping) => running.during(work, () => job.run(isStopping)) };
  });

/** The same jobs; each run of those that want it is a trace. */
export const tracedJobs = (tracer: Tracer | undefined, jobs: readonly Job[]): readonly Job[] =>
  jobs.map((job) => {
    if (!tracer || !job.isTraced) return job;
    const span = { name: job.name, kind: 'internal', facts: {} } as const;
    return { ...job, run: (isStopping) => tracer.begin(span, () => job.run(isStopping)) };
  });

const outcomes = ['succeeded', 'failed'] as const;

/** The same jobs; their runs are counted, unless left to another process, and timed. */
export const measuredJobs = (metrics: Tally, jobs: readonly Job[]): readonly Job[] =>
  jobs.map((job) => {
    const labels = { job_name: job.name };
    const count = (outcome: (typeof outcomes)[number], by = 1) => {
      metrics.count('job_runs_total', { ...labels, outcome }, by);
    };
    for (const outcome of outcomes) count(outcome, 0);
    const run: Job['run'] = async (isStopping) => {
      const begunAt = performance.now();
      try {
        const result = await job.run(isStopping);
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
