import type { ResolutionContext } from 'inversify';
import { LeasedJob, type LeasedJobPorts } from '../adapters/schedule/leased-job.ts';
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

/** A job that one process of a fleet does at a time; each run is a span. */
export const leasedJob = (
  c: ResolutionContext,
  name: string,
  work: (isStopping: () => boolean) => Promise<unknown>,
): LeasedJob => {
  const tracer = tracerOf(c);
  const span = { name, kind: 'internal', facts: {} } as const;
  return new LeasedJob(
    name,
    (isStopping) => begun(tracer, span, () => work(isStopping)),
    leased(c),
  );
};
