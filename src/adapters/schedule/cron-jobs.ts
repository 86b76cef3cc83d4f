import { createTask, type ScheduledTask } from 'node-cron';
import type { Logger } from 'pino';
import { Unavailable } from '../../kernel/unavailable.ts';

export interface Job {
  readonly name: string;
  /** node-cron expression, six fields with seconds first. */
  readonly schedule: string;
  /** Runs at the start too. */
  readonly isAtStart?: true;
  /** One process of a fleet does it at a time: its success is that of all. The others give `false`. */
  readonly isShared?: true;
  /** Each run is a trace. Those without look for work every few seconds, which begins a trace of its own. */
  readonly isTraced?: true;
  /** @param isStopping asked between two batches: the process waits for the run */
  readonly run: (isStopping: () => boolean) => Promise<unknown>;
}

interface Plan {
  readonly job: Job;
  readonly times: ScheduledTask;
  nextAt: number;
  /** From when `nextAt` was set until then. */
  waitMs: number;
  endedWellAt: number;
  failedAt: number;
}

/** How a job does. Times are epoch milliseconds. */
export interface JobState {
  readonly name: string;
  readonly isShared: boolean;
  /** When it last ended well, or when it was scheduled first. */
  readonly endedWellAt: number;
  /** 0 if it has not failed. */
  readonly failedAt: number;
  /** Between its last time on the schedule and the next one. */
  readonly intervalMs: number;
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
  #isStopping = false;

  constructor(jobs: readonly Job[], log: Logger) {
    this.#log = log;
    this.#plans = jobs.map((job) => {
      const times = createTask(job.schedule, () => undefined, { name: job.name });
      const [now, nextAt] = [this.#lookedAt, nextOf(times)];
      return { job, times, nextAt, waitMs: nextAt - now, endedWellAt: now, failedAt: 0 };
    });
    for (const plan of this.#plans) if (plan.job.isAtStart) void this.#run(plan);
    this.#wait();
  }

  state(): readonly JobState[] {
    return this.#plans.map(({ job, endedWellAt, failedAt, waitMs: intervalMs }) => {
      const { name, isShared = false } = job;
      return { name, isShared, endedWellAt, failedAt, intervalMs };
    });
  }

  /** Starts no more runs and waits for those under way. */
  async stop(): Promise<void> {
    this.#isStopping = true;
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
      if (isDue) void this.#run(plan);
      if (!isDue && !isSetBack) continue;
      plan.nextAt = nextOf(plan.times);
      plan.waitMs = plan.nextAt - now;
    }
    this.#wait();
  }

  /** Skips a tick while the job still runs. */
  async #run(plan: Plan): Promise<void> {
    const { job } = plan;
    if (this.#running.has(job.name)) return;
    const run = job
      .run(() => this.#isStopping)
      .then(
        (outcome) => {
          if (outcome !== false) plan.endedWellAt = Date.now();
          this.#heldUp.delete(job.name);
        },
        (error: unknown) => {
          plan.failedAt = Date.now();
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
