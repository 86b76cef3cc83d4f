import { counter, histogram, maxOf, type Measure } from './measure.ts';

export const workMeasures = {
  job_runs_total: {
    ...counter,
    labels: ['job_name', 'outcome'],
    help: 'Runs of scheduled jobs, by whether they failed; runs left to another process are not counted',
    from: 'every process, its own jobs',
  },
  job_duration_seconds: {
    ...histogram,
    unit: 'seconds',
    labels: ['job_name'],
    help: 'How long runs of scheduled jobs took',
    from: 'every process, its own jobs',
  },
  job_last_success_timestamp_seconds: {
    ...maxOf,
    unit: 'seconds',
    labels: ['job_name', 'done_by'],
    help: 'When the job last ended well in this process, or when the process began to schedule it',
    from: 'every process, its own jobs',
  },
  job_last_failure_timestamp_seconds: {
    ...maxOf,
    unit: 'seconds',
    labels: ['job_name', 'done_by'],
    help: 'When the job last failed in this process; 0 if it has not',
    from: 'every process, its own jobs',
  },
  job_interval_seconds: {
    ...maxOf,
    unit: 'seconds',
    labels: ['job_name'],
    help: 'Time between the last and the next run of the job, as it is planned',
    from: 'every process, its own jobs',
  },
  authority_orders_total: {
    ...counter,
    labels: ['authority'],
    help: 'Orders for certificates that the authority has taken',
    from: 'role `worker`',
  },
  authority_default_profiles_total: {
    ...counter,
    labels: ['authority'],
    help: 'Orders that the authority took without the profile that `ACME_PROFILE` asks for, as it does not offer it',
    from: 'role `worker`',
  },
  authority_certificates_total: {
    ...counter,
    labels: ['authority'],
    help: 'Certificates that the authority has issued',
    from: 'role `worker`',
  },
  authority_failures_total: {
    ...counter,
    labels: ['authority', 'reason'],
    help: 'Requests that the authority refused or left unanswered, and orders that it failed',
    from: 'role `worker`',
  },
  webhook_attempts_total: {
    ...counter,
    labels: ['outcome'],
    help: 'Calls of webhooks, by what came of them; `rejected` are answers other than 2xx',
    from: 'role `worker`',
  },
} as const satisfies Readonly<Record<string, Measure>>;
