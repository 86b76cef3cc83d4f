import { schedule, type ScheduledTask } from 'node-cron';
import type { Logger } from 'pino';

export interface Job {
  readonly name: string;
  /** node-cron expression, six fields with seconds first. */
  readonly schedule: string;
  readonly run: () => Promise<unknown>;
}

const nothing = () => undefined;

/** node-cron would write its own lines about late ticks beside our JSON log. */
const quiet = { info: nothing, warn: nothing, error: nothing, debug: nothing };

/** Runs each job on its schedule, never twice at the same time in this process. A failing run is logged. */
export class CronJobs {
  readonly #tasks: readonly ScheduledTask[];
  readonly #running = new Map<string, Promise<void>>();

  constructor(jobs: readonly Job[], log: Logger) {
    this.#tasks = jobs.map((job) =>
      schedule(job.schedule, () => this.#run(job, log), { name: job.name, logger: quiet }),
    );
  }

  /** Starts no more runs and waits for those under way. */
  async stop(): Promise<void> {
    await Promise.all(this.#tasks.map(async (task) => task.destroy()));
    await Promise.all(this.#running.values());
  }

  /** A tick that comes while the job still runs is left out. */
  async #run(job: Job, log: Logger): Promise<void> {
    if (this.#running.has(job.name)) return;
    const run = job.run().then(
      () => undefined,
      (error: unknown) => {
        log.warn({ job: job.name, err: error }, 'job failed, will run again on its schedule');
      },
    );
    this.#running.set(job.name, run);
    await run;
    this.#running.delete(job.name);
  }
}
