import { Worker } from 'node:worker_threads';
import { Unavailable } from '../../kernel/unavailable.ts';
import { unpacked, type ThreadMessage } from './thread-messages.ts';

const mib = 1024 * 1024;
/** Time for a thread to load its code on a busy machine. */
const startMs = 60_000;
const memoryLookMs = 200;
/** With a smaller heap, V8 ends the whole process while it starts the thread. */
const smallestHeapMiB = 64;

export interface ThreadLimits {
  /** Of one task, from when a thread begins with it. */
  readonly deadlineMs: number;
  /** Of one thread: its objects, and with them what lies in buffers beside them. */
  readonly memoryMiB: number;
}

/** A task that was ended, together with its thread, because it exceeded a limit. */
export class Overrun extends Error {
  override readonly name = 'Overrun';
  readonly of: 'time' | 'memory';

  constructor(of: 'time' | 'memory') {
    super(`ended because it took too much ${of}`);
    this.of = of;
  }
}

/** One task under way; its end is reported once. */
interface Work<Result, News> {
  readonly onNews: (news: News) => void;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: Error) => void;
}

/** A thread that works on one task at a time. Ending it stops any work, even an infinite loop. */
export class WorkerThread<Task, Result, News> {
  readonly #worker: Worker;
  readonly #limits: ThreadLimits;
  #work: Work<Result, News> | undefined;
  #deadline: NodeJS.Timeout | undefined;
  #looking: NodeJS.Timeout | undefined;
  #ended: Promise<unknown> | undefined;
  #isOver = false;

  constructor(entry: URL, setup: unknown, limits: ThreadLimits) {
    this.#limits = limits;
    this.#worker = new Worker(entry, {
      workerData: setup,
      // No environment, so that the thread sees no secrets.
      env: {},
      resourceLimits: {
        maxOldGenerationSizeMb: Math.max(limits.memoryMiB, smallestHeapMiB),
        stackSizeMb: 4,
      },
    });
    this.#worker
      .on('message', (message: ThreadMessage<Result, News>) => {
        this.#hear(message);
      })
      .on('error', (error) => {
        this.#isOver = true;
        this.#fail(isOutOfMemory(error) ? new Overrun('memory') : broken(error));
      })
      .on('exit', () => {
        this.#isOver = true;
        this.#fail(broken(new Error('it ended by itself')));
      })
      .unref();
  }

  /** It accepts no more tasks. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** @throws Overrun; DomainError, Unavailable and Error as the task threw them */
  work(task: Task, onNews: (news: News) => void): Promise<Result> {
    return new Promise<Result>((resolve, reject) => {
      this.#work = { onNews, resolve, reject };
      this.#worker.ref();
      this.#deadline = setTimeout(() => {
        this.#stop(broken(new Error('it did not begin')));
      }, startMs);
      this.#worker.postMessage(task);
    });
  }

  /** Also in the middle of a task, which fails. */
  async end(): Promise<void> {
    this.#isOver = true;
    this.#ended ??= this.#worker.terminate();
    await this.#ended;
  }

  #hear(message: ThreadMessage<Result, News>): void {
    switch (message.kind) {
      case 'begun':
        this.#watch();
        return;
      case 'news':
        this.#work?.onNews(message.news);
        return;
      case 'done':
        this.#settle()?.resolve(message.result);
        return;
      case 'failed':
        this.#fail(unpacked(message.failure));
    }
  }

  #watch(): void {
    clearTimeout(this.#deadline);
    this.#deadline = setTimeout(() => {
      this.#stop(new Overrun('time'));
    }, this.#limits.deadlineMs);
    this.#looking = setInterval(() => void this.#look(), memoryLookMs);
  }

  /** V8's own limit does not include buffers. */
  async #look(): Promise<void> {
    const watched = this.#work;
    const use = await this.#worker.getHeapStatistics().catch(() => undefined);
    if (!use || watched !== this.#work) return;
    const bytes = use.used_heap_size + use.external_memory;
    if (bytes > this.#limits.memoryMiB * mib) this.#stop(new Overrun('memory'));
  }

  /** The task fails only after all its work has stopped. */
  #stop(error: Error): void {
    const work = this.#settle();
    if (!work) return;
    void this.end().then(() => {
      work.reject(error);
    });
  }

  #fail(error: Error): void {
    this.#settle()?.reject(error);
  }

  #settle(): Work<Result, News> | undefined {
    const work = this.#work;
    this.#work = undefined;
    clearTimeout(this.#deadline);
    clearInterval(this.#looking);
    if (!this.#isOver) this.#worker.unref();
    return work;
  }
}

const isOutOfMemory = (error: unknown): boolean =>
  (error as NodeJS.ErrnoException).code === 'ERR_WORKER_OUT_OF_MEMORY';

const broken = (error: unknown): Unavailable => new Unavailable('A worker thread', error, 'failed');
