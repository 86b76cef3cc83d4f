import type { Logger } from 'pino';
import type { Clock } from '../../kernel/clock.ts';
import type { JobLeases } from '../../kernel/job-leases.ts';

/** A worker that has not renewed its lease for so long is dead. The work itself may take longer. */
const leaseMs = 30_000;
const prolongedPerLease = 3;

export interface LeasedJobPorts {
  readonly leases: JobLeases;
  readonly clock: Clock;
  readonly log: Logger;
  /** Tells this process from the others. */
  readonly holder: string;
  /** How long after it was found to be at work elsewhere it is tried again. */
  readonly againAfterMs?: number;
}

/** A job that one process of a fleet does at a time. */
export class LeasedJob {
  readonly #name: string;
  readonly #work: (isStopping: () => boolean) => Promise<unknown>;
  readonly #ports: LeasedJobPorts;
  #running: Promise<boolean> | undefined;
  #again = false;
  #stopped = false;
  #retry: NodeJS.Timeout | undefined;

  /** @param work asks now and then whether it is to end early */
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
   * Does the work, unless another process is at it. While it runs in here, a further call makes it run once more.
   * @returns whether it was done in here after the last call
   */
  run(): Promise<boolean> {
    this.#again = true;
    this.#running ??= this.#turns();
    return this.#running;
  }

  /** For news: returns at once. While another process is at work, which may not see them, it is tried again. */
  wake(): void {
    const { log, againAfterMs = 1000 } = this.#ports;
    this.run()
      .then((isDone) => {
        if (isDone || this.#stopped) return;
        clearTimeout(this.#retry);
        this.#retry = setTimeout(() => {
          this.wake();
        }, againAfterMs);
      })
      .catch((error: unknown) => {
        log.warn({ job: this.#name, err: error }, 'job failed, will run again on its schedule');
      });
  }

  /** Begins nothing more and waits for what is under way. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#retry);
    await this.#running?.catch(() => undefined);
  }

  async #turns(): Promise<boolean> {
    let isHeld = false;
    try {
      while (this.#again && !this.#stopped) {
        this.#again = false;
        isHeld = await this.#hold();
        if (isHeld) await this.#turn();
      }
      return isHeld;
    } finally {
      // In the turn of the last look: a call that comes later has to run for itself.
      this.#running = undefined;
    }
  }

  async #turn(): Promise<void> {
    const { leases, log, holder } = this.#ports;
    const prolonging = setInterval(() => {
      this.#hold().catch((error: unknown) => {
        log.warn({ job: this.#name, err: error }, 'lease of a job not prolonged');
      });
    }, leaseMs / prolongedPerLease).unref();
    try {
      await this.#work(() => this.#stopped);
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
