import type { ResolutionContext } from 'inversify';
import { LeasedJob, type LeasedJobPorts } from '../adapters/schedule/leased-job.ts';
import type { JobEnd } from '../adapters/schedule/cron-jobs.ts';
import { Clock } from '../kernel/clock.ts';
import { JobLeases } from '../kernel/job-leases.ts';
import { LogKey, ProcessKey } from './keys.ts';
import { begun, tracerOf } from './tracing.ts';

/** What every job needs that one process of a fleet does at a time. */
export const leased = (c: ResolutionContext): LeasedJobPorts => ({
  leases: c.get(JobLeases),
  clock: c.get(Clock),
  log: c.get(LogKey),
  holder: c.get(ProcessKey),
});

/**
 * A job that one process of a fleet does at a time; each run is a span.
 * @param dueAt see `LeasedJobPorts`
 */
export const leasedJob = (
  c: ResolutionContext,
  name: string,
  work: (isStopping: () => boolean) => Promise<JobEnd>,
  dueAt?: () => Promise<Date | undefined>,
): LeasedJob => {
  const tracer = tracerOf(c);
  const span = { name, kind: 'internal', facts: {} } as const;
  return new LeasedJob(name, (isStopping) => begun(tracer, span, () => work(isStopping)), {
    ...leased(c),
    ...(dueAt && { dueAt }),
  });
};
