import type { Tally } from '../../adapters/http/metrics/measures.ts';
import type { Job } from '../../adapters/schedule/cron-jobs.ts';

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
