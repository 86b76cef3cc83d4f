import type { Logger } from 'pino';
import type { Clock } from '../../kernel/ports.ts';
import type { JobLeases } from '../../kernel/queue.ts';
import type { Job, JobEnd } from './cron-jobs.ts';

/** A worker that has not renewed its lease for so long is dead. The work itself may take longer. */
const leaseMs = 30_000;
const prolongedPerLease = 3;

export interface LeasedJobPorts {
  readonly leases: JobLeases;
  readonly clock: Clock;
  readonly log: Logger;
  /** Identifies this process. */
  readonly holder: string;
}

interface LeasedWork {
  readonly name: string;
  /** Checks now and then whether it should end early. */
  readonly work: (isStopping: () => boolean) => Promise<JobEnd>;
  /** When the store has work for it; before that it takes no lease. Without `dueAt`, the work itself says when. */
  readonly dueAt?: () => Promise<Date | undefined>;
  /** For how long it stays the job of this process after each run; without, another one may do the next. */
  readonly keptMs?: () => number;
}

/** Work that one process of a fleet does at a time. */
export const leasedJob = (
  { name, work, dueAt, keptMs }: LeasedWork,
  { leases, clock, log, holder }: LeasedJobPorts,
): Job['run'] => {
  const hold = (milliseconds = leaseMs) => {
    const now = clock.now();
    return leases.hold(name, holder, now, new Date(now.getTime() + milliseconds));
  };
  const prolong = () => {
    hold().catch((error: unknown) => {
      log.warn({ job: name, err: error }, 'lease of a job not renewed');
    });
  };
  return async (isStopping) => {
    const nextAt = await dueAt?.();
    if (dueAt && (!nextAt || nextAt > clock.now())) return { nextAt };
    if (!(await hold())) return 'elsewhere';
    const prolonging = setInterval(prolong, leaseMs / prolongedPerLease).unref();
    try {
      const end = await work(isStopping);
      return dueAt ? { nextAt: await dueAt() } : end;
    } finally {
      clearInterval(prolonging);
      await (keptMs ? hold(keptMs()) : leases.release(name, holder));
    }
  };
};
