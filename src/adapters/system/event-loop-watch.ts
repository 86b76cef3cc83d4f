import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Logger } from 'pino';
import type { RunningWork } from './running-work.ts';

const lookMs = 50;
/** Delays from this length on are noticeable. */
export const noticedMs = 200;
/** The monitor measures from one of its own turns to the next. */
const resolutionMs = 20;

/**
 * Detects when the main thread was blocked, and logs for how long and what ran. An overloaded machine looks the same.
 */
export class EventLoopWatch {
  readonly #running: RunningWork;
  readonly #log: Logger;
  readonly #elapsed: () => number;
  readonly #delays = monitorEventLoopDelay({ resolution: resolutionMs });
  #timer: NodeJS.Timeout | undefined;
  #noticed = 0;
  #worstMs = 0;

  /** @param elapsed monotonic milliseconds */
  constructor(running: RunningWork, log: Logger, elapsed = () => performance.now()) {
    this.#running = running;
    this.#log = log;
    this.#elapsed = elapsed;
  }

  start(): void {
    this.#delays.enable();
    let lookedAt = this.#elapsed();
    this.#timer = setInterval(() => {
      const now = this.#elapsed();
      const delayMs = now - lookedAt - lookMs;
      lookedAt = now;
      if (delayMs >= noticedMs) this.#notice(delayMs);
      this.#running.forgetBegun();
    }, lookMs).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#delays.disable();
  }

  /** Delays since the last call, which starts a new measurement; `noticed` counts from the start of the process. */
  state() {
    const { mean, max, count } = this.#delays;
    const seconds = (nanoseconds: number): number =>
      count === 0 ? 0 : Math.max(0, nanoseconds / 1e9 - resolutionMs / 1000);
    const state = {
      meanSeconds: seconds(mean),
      p99Seconds: seconds(count === 0 ? 0 : this.#delays.percentile(99)),
      // The monitor does not see what comes between a reset and its next turn.
      maxSeconds: Math.max(seconds(max), this.#worstMs / 1000),
      noticed: this.#noticed,
    };
    this.#delays.reset();
    this.#worstMs = 0;
    return state;
  }

  #notice(delayMs: number): void {
    this.#noticed += 1;
    this.#worstMs = Math.max(this.#worstMs, delayMs);
    this.#log.warn(
      { delayMs: Math.round(delayMs), ...this.#running.told() },
      'the event loop was blocked',
    );
  }
}
