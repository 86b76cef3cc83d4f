import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Logger } from 'pino';
import { shownPath } from '../../kernel/text.ts';

export interface Work {
  describe(): string;
}

const shown = 20;

/** Tracks what this process is working on. Must be cheap, because every request is registered. */
export class RunningWork {
  readonly #inProgress = new Set<Work>();
  #begun: Work[] = [];

  begin(work: Work): void {
    this.#inProgress.add(work);
    this.note(work);
  }

  end(work: Work): void {
    this.#inProgress.delete(work);
  }

  /** Registers work that usually ends before it can be reported. */
  note(work: Work): void {
    this.#begun.push(work);
    if (this.#begun.length > 2 * shown) this.#begun = this.#begun.slice(-shown);
  }

  async during<T>(work: Work, run: () => Promise<T>): Promise<T> {
    this.begin(work);
    try {
      return await run();
    } finally {
      this.end(work);
    }
  }

  forgetBegun(): void {
    if (this.#begun.length > 0) this.#begun = [];
  }

  told(): { readonly begun: readonly string[]; readonly inProgress: readonly string[] } {
    const latest = (all: Iterable<Work>) =>
      [...all]
        .slice(-shown)
        .toReversed()
        .map((work) => work.describe());
    return { begun: counted(latest(this.#begun)), inProgress: counted(latest(this.#inProgress)) };
  }
}

const counted = (texts: readonly string[]): readonly string[] =>
  [...Map.groupBy(texts, (text) => text)].map(([text, { length }]) =>
    length === 1 ? text : `${text} (${String(length)} times)`,
  );

export const named = (kind: string, name: string): Work => ({
  describe: () => `${kind} ${name}`,
});

interface Request {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
}

interface Answering {
  readonly requestId?: string | undefined;
  getHeader(name: string): unknown;
  once(event: 'close', listener: () => void): unknown;
}

export const watched =
  <Asked extends Request, Answer extends Answering, Result>(
    running: RunningWork,
    handle: (request: Asked, response: Answer) => Result,
  ) =>
  (request: Asked, response: Answer): Result => {
    const work = {
      describe: () => {
        const id = response.requestId ?? response.getHeader('X-Request-Id');
        return `request ${inWords(request)}${typeof id === 'string' ? ` (${id})` : ''}`;
      },
    };
    running.begin(work);
    response.once('close', () => {
      running.end(work);
    });
    return handle(request, response);
  };

/** Describes a request to a published site, which is too short to track. */
export const visit = (request: Request): Work => ({
  describe: () => `visit ${inWords(request)}`,
});

const inWords = ({ method = '', url = '' }: Request): string => {
  const query = url.indexOf('?');
  return `${method} ${shownPath(query === -1 ? url : url.slice(0, query))}`;
};

const lookMs = 50;
const noticedMs = 200;
const resolutionMs = 20;

/** Logs when the main thread was blocked, for how long and by what. An overloaded machine looks the same. */
export class EventLoopWatch {
  readonly #running: RunningWork;
  readonly #log: Logger;
  readonly #elapsed: () => number;
  readonly #delays = monitorEventLoopDelay({ resolution: resolutionMs });
  #timer: NodeJS.Timeout | undefined;
  #noticed = 0;
  #worstMs = 0;

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

  /** Returns the delays since the last call, and starts a new measurement. `noticed` counts since the process started. */
  state() {
    const { mean, max, count } = this.#delays;
    const seconds = (nanoseconds: number): number =>
      count === 0 ? 0 : Math.max(0, nanoseconds / 1e9 - resolutionMs / 1000);
    const state = {
      meanSeconds: seconds(mean),
      p99Seconds: seconds(count === 0 ? 0 : this.#delays.percentile(99)),
      // The monitor misses delays between a reset and its next turn.
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
