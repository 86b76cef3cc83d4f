import type { Logger } from 'pino';
import { Bell } from '../../kernel/bell.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { JobLeases } from '../../kernel/job-leases.ts';
import { Turns } from '../../kernel/turns.ts';
import type { JobEnd } from './cron-jobs.ts';

/** A worker that has not renewed its lease for so long is dead. The work itself may take longer. */
const leaseMs = 30_000;
const prolongedPerLease = 3;

export interface LeasedJobPorts {
  readonly leases: JobLeases;
  readonly clock: Clock;
  readonly log: Logger;
  /** Identifies this process. */
  readonly holder: string;
  /** When the store has work for it; before that it takes no lease. Without `dueAt`, the work itself says when. */
  readonly dueAt?: () => Promise<Date | undefined>;
}

/** A job that one process of a fleet does at a time. */
export class LeasedJob {
  /** Rings when there may be work. */
  readonly news = new Bell();
  readonly #name: string;
  readonly #work: (isStopping: () => boolean) => Promise<JobEnd>;
  readonly #ports: LeasedJobPorts;
  readonly #turns = new Turns(() => this.#turn());

  /** @param work checks now and then whether it should end early */
  constructor(
    name: string,
    work: (isStopping: () => boolean) => Promise<JobEnd>,
    ports: LeasedJobPorts,
  ) {
    this.#name = name;
    this.#work = work;
    this.#ports = ports;
  }

  /**
   * Runs the job, unless another process runs it. A call during a run in this process makes it run once more.
   */
  async run(): Promise<JobEnd> {
    return (await this.#turns.run()) ?? 'elsewhere';
  }

  /** Starts no more runs and waits for the current one. */
  async stop(): Promise<void> {
    await this.#turns.stop();
  }

  async #turn(): Promise<JobEnd> {
    const { dueAt, clock } = this.#ports;
    if (!dueAt) return (await this.#hold()) ? this.#workOnce() : 'elsewhere';
    const nextAt = await dueAt();
    if (!nextAt || nextAt > clock.now()) return { nextAt };
    if (!(await this.#hold())) return 'elsewhere';
    await this.#workOnce();
    return { nextAt: await dueAt() };
  }

  async #workOnce(): Promise<JobEnd> {
    const { leases, log, holder } = this.#ports;
    const prolonging = setInterval(() => {
      this.#hold().catch((error: unknown) => {
        log.warn({ job: this.#name, err: error }, 'lease of a job not renewed');
      });
    }, leaseMs / prolongedPerLease).unref();
    try {
      return await this.#work(() => this.#turns.isStopped);
    } finally {
      clearInterval(prolonging);
      await leases.release(this.#name, holder);
    }
  }

  #hold(): Promise<boolean> {
    const { leases, clock, holder } = this.#ports;
    const now = clock.now();
    return leases.hold(this.#name, holder, now, new Date(now.getTime() + leaseMs));
  }
}
