import type { Metrics } from '../../adapters/http/metrics/metrics.ts';
import type { CronJobs } from '../../adapters/schedule/cron-jobs.ts';

export const showJobs = (metrics: Metrics, cron: Pick<CronJobs, 'state'>): void => {
  const ended = [
    'job_last_success_timestamp_seconds',
    'job_last_failure_timestamp_seconds',
  ] as const;
  metrics.show([...ended, 'job_interval_seconds'], () => {
    const jobs = cron.state().map(({ name, isShared, ...times }) => {
      return { ...times, labels: { job_name: name, done_by: isShared ? 'one' : 'each' } };
    });
    return {
      job_last_success_timestamp_seconds: jobs.map(({ labels, endedWellAt }) => {
        return { labels, value: endedWellAt / 1000 };
      }),
      job_last_failure_timestamp_seconds: jobs.map(({ labels, failedAt }) => {
        return { labels, value: failedAt / 1000 };
      }),
      job_interval_seconds: jobs.map(({ labels, intervalMs }) => {
        return { labels: { job_name: labels.job_name }, value: intervalMs / 1000 };
      }),
    };
  });
};
