import { AsyncLocalStorage } from 'node:async_hooks';
import { createTask, type ScheduledTask } from 'node-cron';
import type { Logger } from 'pino';
import type { Bell, Ringing } from '../../kernel/signals.ts';
import { Unavailable } from '../../kernel/ports.ts';

/**
 * How a run ended. `done`: the job runs next at its time on the schedule. `elsewhere`: another process of the fleet does
 * it. `nextAt`: there is no known work before that time; undefined: none until there is news. If `nextAt` has passed, this
 * process could not do the work yet, and tries again at the next time on the schedule.
 */
export type JobEnd = 'done' | 'elsewhere' | { readonly nextAt: Date | undefined };

type Work<End> = (isStopping: () => boolean) => Promise<End>;

/** Work that does not say when it has more to do. */
export const asJob =
  (work: Work<unknown>): Work<JobEnd> =>
  async (isStopping) => {
    await work(isStopping);
    return 'done';
  };

export interface Job {
  readonly name: string;
  /** node-cron expression, six fields with seconds first. */
  readonly schedule: string;
  /** Runs at the start too. */
  readonly isAtStart?: true;
  /** One process of a fleet does it at a time: its success is that of all. */
  readonly isShared?: true;
  /** Each run is a trace. Those without look for work every few seconds, which begins a trace of its own. */
  readonly isTraced?: true;
  /** Rings when there may be work before the planned time. */
  readonly news?: Bell;
  /** News waits for the next time on the schedule, so that one run does all that has come until then. */
  readonly gathersNews?: true;
  /** @param isStopping asked between two batches: the process waits for the run */
  readonly run: (isStopping: () => boolean) => Promise<JobEnd>;
}

export interface SleepOptions {
  /**
   * How long a job without work may sleep, and how late a changed clock may be noticed. Set it only where all news rings
   * here. By default a job sleeps until its next time on the schedule, and a changed clock is noticed within a second.
   */
  readonly longestSleepMs?: number;
}

interface Plan {
  readonly job: Job;
  readonly times: ScheduledTask;
  isRunning: boolean;
  /** Ends with the run; at first it has. */
  run: Promise<void>;
  nextAt: number;
  /** From the beginning of the last run that did not fail until `nextAt`. */
  waitMs: number;
  endedWellAt: number;
  failedAt: number;
  /** By when news is looked at that came since the last run began; infinite without. */
  newsBy: number;
  /** There was news that another process may have missed while it did the job. News that is gathered waits anyway. */
  isOwed: boolean;
}

/** How a job does. Times are epoch milliseconds. */
export interface JobState {
  readonly name: string;
  readonly isShared: boolean;
  /** When it last ended well, or when it was scheduled first. */
  readonly endedWellAt: number;
  /** 0 if it has not failed. */
  readonly failedAt: number;
  /** Between its last run and the next one, as it is planned. */
  readonly intervalMs: number;
}

/** Longest timer, so that a changed clock is noticed within this time. */
const longestWaitMs = 1000;
/** How long frequent news may wait. */
const soonMs = 1000;
/** Until this process tries again a job that has news and that another process is doing. */
const againAfterMs = 1000;

/**
 * Runs each job when it has work: at the time that its last run named, at news, and at the latest at its next time on the
 * schedule; never twice at the same time in this process. A failing run is logged. When the clock is set ahead, as after
 * a suspended machine, a job runs once for all the times that it missed; when it is set back, jobs go on from there.
 * node-cron only says when: its own runner counts each missed second one by one, which takes minutes, or waits until the
 * old time comes round again.
 */
export class CronJobs {
  readonly #plans: readonly Plan[];
  /** Jobs whose last run met something that was away. */
  readonly #heldUp = new Set<string>();
  readonly #log: Logger;
  readonly #longestSleepMs: number | undefined;
  /** Runs belong to no request or trace that brought the news. */
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

  /** Starts no more runs and waits for those under way. */
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

  /** By when news is looked at. */
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

  /** A job that still runs is not started again. */
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
    // At once after the last look for news, so that later news begins a run.
    plan.isRunning = false;
    this.#wait();
  }

  /** @returns undefined if it failed */
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
