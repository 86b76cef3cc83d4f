import type { Logger } from 'pino';
import type { Clock } from '../../kernel/clock.ts';
import type { JobLeases } from '../../kernel/job-leases.ts';
import { Turns } from '../../kernel/turns.ts';

/** A worker that has not renewed its lease for so long is dead. The work itself may take longer. */
const leaseMs = 30_000;
const prolongedPerLease = 3;

export interface LeasedJobPorts {
  readonly leases: JobLeases;
  readonly clock: Clock;
  readonly log: Logger;
  /** Identifies this process. */
  readonly holder: string;
  /** Delay before retrying a job that runs in another process. */
  readonly againAfterMs?: number;
}

/** A job that one process of a fleet does at a time. */
export class LeasedJob {
  readonly #name: string;
  readonly #work: (isStopping: () => boolean) => Promise<unknown>;
  readonly #ports: LeasedJobPorts;
  readonly #turns = new Turns(() => this.#turn());
  #retry: NodeJS.Timeout | undefined;

  /** @param work checks now and then whether it should end early */
  constructor(
    name: string,
    work: (isStopping: () => boolean) => Promise<unknown>,
    ports: LeasedJobPorts,
  ) {
    this.#name = name;
    this.#work = work;
    this.#ports = ports;
  }

  /**
   * Runs the job, unless another process runs it. A call during a run in this process makes it run once more.
   * @returns whether this process ran it after the last call
   */
  async run(): Promise<boolean> {
    return (await this.#turns.run()) ?? false;
  }

  /**
   * Requests a run and returns at once. If another process is running it, and may not see the news, it is retried
   * later.
   */
  wake(): void {
    const { log, againAfterMs = 1000 } = this.#ports;
    this.run()
      .then((isDone) => {
        if (isDone || this.#turns.isStopped) return;
        clearTimeout(this.#retry);
        this.#retry = setTimeout(() => {
          this.wake();
        }, againAfterMs);
      })
      .catch((error: unknown) => {
        log.warn({ job: this.#name, err: error }, 'job failed, will run again on its schedule');
      });
  }

  /** Starts no more runs and waits for the current one. */
  async stop(): Promise<void> {
    clearTimeout(this.#retry);
    await this.#turns.stop();
  }

  /** @returns whether it is this process's turn */
  async #turn(): Promise<boolean> {
    const isHeld = await this.#hold();
    if (isHeld) await this.#workOnce();
    return isHeld;
  }

  async #workOnce(): Promise<void> {
    const { leases, log, holder } = this.#ports;
    const prolonging = setInterval(() => {
      this.#hold().catch((error: unknown) => {
        log.warn({ job: this.#name, err: error }, 'lease of a job not renewed');
      });
    }, leaseMs / prolongedPerLease).unref();
    try {
      await this.#work(() => this.#turns.isStopped);
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
