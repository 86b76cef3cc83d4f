import { createTask, type ScheduledTask } from 'node-cron';
import type { Logger } from 'pino';
import { Unavailable } from '../../kernel/unavailable.ts';

export interface Job {
  readonly name: string;
  /** node-cron expression, six fields with seconds first. */
  readonly schedule: string;
  readonly run: () => Promise<unknown>;
}

interface Plan {
  readonly job: Job;
  readonly times: ScheduledTask;
  nextAt: number;
}

/** Longest timer, so that a changed clock is noticed within this time. */
const longestWaitMs = 1000;

/**
 * Runs each job on its schedule, never twice at the same time in this process. A failing run is logged. When the
 * clock is set ahead, as after a suspended machine, a job runs once for all the times that it missed; when it is
 * set back, jobs go on from there. node-cron only says when: its own runner counts each missed second one by one,
 * which takes minutes, or waits until the old time comes round again.
 */
export class CronJobs {
  readonly #plans: readonly Plan[];
  readonly #running = new Map<string, Promise<void>>();
  /** Jobs whose last run met something that was away. */
  readonly #heldUp = new Set<string>();
  readonly #log: Logger;
  #lookedAt = Date.now();
  #timer: NodeJS.Timeout | undefined;

  constructor(jobs: readonly Job[], log: Logger) {
    this.#log = log;
    this.#plans = jobs.map((job) => {
      const times = createTask(job.schedule, () => undefined, { name: job.name });
      return { job, times, nextAt: nextOf(times) };
    });
    this.#wait();
  }

  /** Starts no more runs and waits for those under way. */
  async stop(): Promise<void> {
    clearTimeout(this.#timer);
    await Promise.all(this.#plans.map(async ({ times }) => times.destroy()));
    await Promise.all(this.#running.values());
  }

  #wait(): void {
    const nextAt = Math.min(...this.#plans.map((plan) => plan.nextAt));
    const wait = Math.min(Math.max(0, nextAt - this.#lookedAt), longestWaitMs);
    this.#timer = setTimeout(() => {
      this.#look();
    }, wait);
  }

  #look(): void {
    const now = Date.now();
    const isSetBack = now < this.#lookedAt - longestWaitMs;
    this.#lookedAt = now;
    for (const plan of this.#plans) {
      const isDue = now >= plan.nextAt;
      if (isDue) void this.#run(plan.job);
      if (isDue || isSetBack) plan.nextAt = nextOf(plan.times);
    }
    this.#wait();
  }

  /** Skips a tick while the job still runs. */
  async #run(job: Job): Promise<void> {
    if (this.#running.has(job.name)) return;
    const run = job.run().then(
      () => {
        this.#heldUp.delete(job.name);
      },
      (error: unknown) => {
        this.#report(job, error);
      },
    );
    this.#running.set(job.name, run);
    await run;
    this.#running.delete(job.name);
  }

  /** Logs an outage once per job, not at each run. */
  #report({ name }: Job, error: unknown): void {
    const isKnown = this.#heldUp.has(name);
    if (error instanceof Unavailable) this.#heldUp.add(name);
    const facts = { job: name, err: error };
    const text = 'job failed, will run again on its schedule';
    if (isKnown) this.#log.debug(facts, text);
    else this.#log.warn(facts, text);
  }
}

const nextOf = (times: ScheduledTask): number => times.getNextRuns(1)[0]?.getTime() ?? Infinity;
