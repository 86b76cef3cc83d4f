import { AsyncLocalStorage } from 'node:async_hooks';
import { createTask, type ScheduledTask } from 'node-cron';
import type { Logger } from 'pino';
import type { Bell, Ringing } from '../../kernel/signals.ts';
import { Unavailable } from '../../kernel/ports.ts';

/**
 * `done`: run again on schedule. `elsewhere`: another process does this job. `nextAt`: there is no work before this
 * time. It is undefined if there is none until the bell rings, and in the past if this process could not do the work.
 */
export type JobEnd = 'done' | 'elsewhere' | { readonly nextAt: Date | undefined };

type Work<End> = (isStopping: () => boolean) => Promise<End>;

export const asJob =
  (work: Work<unknown>): Work<JobEnd> =>
  async (isStopping) => {
    await work(isStopping);
    return 'done';
  };

export interface Job {
  readonly name: string;
  /** Cron expression with six fields; the first is seconds. */
  readonly schedule: string;
  readonly isAtStart?: true;
  /** Only one process of a fleet runs the job at a time. */
  readonly isShared?: true;
  /** Each run is recorded as a trace. */
  readonly isTraced?: true;
  readonly news?: Bell;
  /** The bell does not start a run, so new work waits for the schedule. */
  readonly gathersNews?: true;
  /** @param isStopping must be checked between batches */
  readonly run: (isStopping: () => boolean) => Promise<JobEnd>;
}

export interface SleepOptions {
  /** Longest sleep without work, and how late a clock change is noticed. Every change must ring the bell. */
  readonly longestSleepMs?: number;
}

interface Plan {
  readonly job: Job;
  readonly times: ScheduledTask;
  isRunning: boolean;
  run: Promise<void>;
  nextAt: number;
  waitMs: number;
  endedWellAt: number;
  failedAt: number;
  newsBy: number;
  /** True if another process may have missed new work. */
  isOwed: boolean;
}

/** Times are epoch milliseconds. */
export interface JobState {
  readonly name: string;
  readonly isShared: boolean;
  readonly endedWellAt: number;
  /** 0 if it has never failed. */
  readonly failedAt: number;
  readonly intervalMs: number;
}

const longestWaitMs = 1000;
const soonMs = 1000;
const againAfterMs = 1000;

/**
 * Runs each job on schedule, when its bell rings, and at the time that its last run returned, but never twice at once.
 * After a clock jump forwards, it runs once for all missed times. node-cron only computes times: its runner would run
 * every missed second.
 */
export class CronJobs {
  readonly #plans: readonly Plan[];
  readonly #heldUp = new Set<string>();
  readonly #log: Logger;
  readonly #longestSleepMs: number | undefined;
  /** Keeps runs apart from the request or trace that rang the bell. */
  readonly #apart = AsyncLocalStorage.snapshot();
  #lookedAt = Date.now();
  #timer: NodeJS.Timeout | undefined;
  #isStopping = false;

  constructor(jobs: readonly Job[], log: Logger, { longestSleepMs }: SleepOptions = {}) {
    this.#log = log;
    this.#longestSleepMs = longestSleepMs;
    this.#plans = jobs.map((job) => {
      const times = createTask(job.schedule, () => undefined, { name: job.name });
      const [now, nextAt] = [this.#lookedAt, nextOf(times)];
      const before = {
        isRunning: false,
        run: Promise.resolve(),
        endedWellAt: now,
        failedAt: 0,
        newsBy: Infinity,
        isOwed: false,
      };
      return { job, times, nextAt, waitMs: nextAt - now, ...before };
    });
    for (const plan of this.#plans) {
      plan.job.news?.listen((when) => {
        this.#apart(() => {
          this.#wake(plan, when);
        });
      });
      if (plan.job.isAtStart) this.#run(plan);
    }
    this.#wait();
  }

  state(): readonly JobState[] {
    return this.#plans.map(({ job, endedWellAt, failedAt, waitMs: intervalMs }) => {
      const { name, isShared = false } = job;
      return { name, isShared, endedWellAt, failedAt, intervalMs };
    });
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    clearTimeout(this.#timer);
    await Promise.all(this.#plans.map(async ({ times }) => times.destroy()));
    await Promise.all(this.#plans.map(({ run }) => run));
  }

  #wake(plan: Plan, when: Ringing): void {
    if (this.#isStopping) return;
    const now = Date.now();
    const by = this.#newsBy(plan, when, now);
    if (by >= plan.newsBy) return;
    plan.newsBy = by;
    if (plan.isRunning) return;
    plan.nextAt = Math.min(plan.nextAt, by);
    if (by <= now) this.#run(plan);
    this.#wait();
  }

  #newsBy({ job, times, newsBy }: Plan, when: Ringing, now: number): number {
    if (job.gathersNews) return newsBy === Infinity ? nextOf(times) : newsBy;
    return when === 'now' ? now : now + soonMs;
  }

  #wait(): void {
    if (this.#isStopping) return;
    clearTimeout(this.#timer);
    const now = Date.now();
    this.#noticeSetBack(now);
    const waiting = this.#plans.filter(({ isRunning }) => !isRunning);
    const nextAt = Math.min(...waiting.map((plan) => plan.nextAt));
    const wait = Math.max(0, nextAt - now);
    this.#timer = setTimeout(
      () => {
        this.#look();
      },
      Math.min(wait, this.#longestSleepMs ?? longestWaitMs),
    );
  }

  #look(): void {
    const now = Date.now();
    for (const plan of this.#plans) if (now >= plan.nextAt) this.#run(plan);
    this.#wait();
  }

  #noticeSetBack(now: number): void {
    const isSetBack = now < this.#lookedAt - longestWaitMs;
    this.#lookedAt = now;
    if (!isSetBack) return;
    for (const plan of this.#plans) {
      plan.nextAt = Math.min(nextOf(plan.times), plan.newsBy);
      plan.waitMs = plan.nextAt - now;
    }
  }

  #run(plan: Plan): void {
    if (this.#isStopping || plan.isRunning) return;
    plan.isRunning = true;
    plan.run = this.#runWhileNews(plan);
  }

  async #runWhileNews(plan: Plan): Promise<void> {
    do {
      plan.isOwed ||= plan.newsBy !== Infinity && !plan.job.gathersNews;
      plan.newsBy = Infinity;
      const begunAt = Date.now();
      const end = await this.#runOnce(plan);
      if (this.#isStopping) break;
      plan.nextAt = this.#nextAfter(plan, end);
      if (end) plan.waitMs = plan.nextAt - begunAt;
    } while (plan.newsBy <= Date.now());
    plan.nextAt = Math.min(plan.nextAt, plan.newsBy);
    // Set directly after the last check, so that later news starts a new run.
    plan.isRunning = false;
    this.#wait();
  }

  async #runOnce(plan: Plan): Promise<JobEnd | undefined> {
    const { job } = plan;
    try {
      const end = await job.run(() => this.#isStopping);
      if (end !== 'elsewhere') plan.endedWellAt = Date.now();
      this.#heldUp.delete(job.name);
      return end;
    } catch (error) {
      plan.failedAt = Date.now();
      this.#report(job, error);
      return undefined;
    }
  }

  #nextAfter(plan: Plan, end: JobEnd | undefined): number {
    const now = Date.now();
    if (end === 'elsewhere' && plan.isOwed) return now + againAfterMs;
    if (end) plan.isOwed = false;
    if (typeof end !== 'object') return nextOf(plan.times);
    const nextAt = end.nextAt?.getTime() ?? Infinity;
    if (nextAt <= now) return nextOf(plan.times);
    const latest =
      this.#longestSleepMs === undefined ? nextOf(plan.times) : now + this.#longestSleepMs;
    return Math.min(nextAt, latest);
  }

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
