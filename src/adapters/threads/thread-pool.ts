import { Unavailable } from '../../kernel/unavailable.ts';
import { WorkerThread, type ThreadLimits } from './worker-thread.ts';

export interface PoolSettings extends ThreadLimits {
  /** What a thread runs: it calls `answerTasks`. */
  readonly entry: URL;
  /** What each thread is given at its start. */
  readonly setup?: unknown;
  /** Most threads; they are started on demand. */
  readonly threads: number;
  /** Tasks that may wait for a thread. */
  readonly mostWaiting: number;
  /** An idle thread is ended after this time. */
  readonly idleMs: number;
}

/**
 * Threads for one kind of work with untrusted size. A task that exceeds a limit ends with its thread, and the next one
 * gets a new thread; the process and all other tasks continue.
 */
export class ThreadPool<Task, Result, News = never> {
  readonly #settings: PoolSettings;
  readonly #threads = new Set<WorkerThread<Task, Result, News>>();
  readonly #idle = new Map<WorkerThread<Task, Result, News>, NodeJS.Timeout>();
  readonly #waiting: (() => void)[] = [];
  #isClosed = false;

  constructor(settings: PoolSettings) {
    this.#settings = settings;
  }

  /**
   * @param onNews called with progress messages of the task
   * @throws Overrun; Unavailable also when too many wait; DomainError and Error as the task threw them
   */
  async run(task: Task, onNews: (news: News) => void = () => undefined): Promise<Result> {
    const thread = await this.#thread();
    try {
      return await thread.work(task, onNews);
    } finally {
      this.#giveBack(thread);
    }
  }

  /** How many threads there are now. */
  get size(): number {
    return this.#threads.size;
  }

  /** Ends all threads; running and waiting tasks fail. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const call of this.#waiting.splice(0)) call();
    for (const timer of this.#idle.values()) clearTimeout(timer);
    await Promise.all([...this.#threads].map((thread) => thread.end()));
  }

  async #thread(): Promise<WorkerThread<Task, Result, News>> {
    while (!this.#isClosed) {
      const free = this.#takeIdle() ?? this.#start();
      if (free) return free;
      if (this.#waiting.length >= this.#settings.mostWaiting) {
        throw busy('too many tasks wait for a thread');
      }
      await new Promise<void>((resolve) => {
        this.#waiting.push(resolve);
      });
    }
    throw busy('the process is stopping');
  }

  #takeIdle(): WorkerThread<Task, Result, News> | undefined {
    for (const [thread, timer] of this.#idle) {
      clearTimeout(timer);
      this.#idle.delete(thread);
      if (!thread.isOver) return thread;
      this.#threads.delete(thread);
    }
    return undefined;
  }

  #start(): WorkerThread<Task, Result, News> | undefined {
    const { entry, setup, threads } = this.#settings;
    if (this.#threads.size >= threads) return undefined;
    const thread = new WorkerThread<Task, Result, News>(entry, setup, this.#settings);
    this.#threads.add(thread);
    return thread;
  }

  #giveBack(thread: WorkerThread<Task, Result, News>): void {
    if (thread.isOver) this.#threads.delete(thread);
    else this.#idle.set(thread, this.#endLater(thread));
    this.#waiting.shift()?.();
  }

  #endLater(thread: WorkerThread<Task, Result, News>): NodeJS.Timeout {
    return setTimeout(() => {
      this.#idle.delete(thread);
      this.#threads.delete(thread);
      void thread.end();
    }, this.#settings.idleMs).unref();
  }
}

const busy = (why: string): Unavailable =>
  new Unavailable('A worker thread', new Error(why), 'has too much to do');
