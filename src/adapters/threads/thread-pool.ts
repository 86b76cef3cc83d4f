import { Worker } from 'node:worker_threads';
import PQueue from 'p-queue';
import { Unavailable } from '../../kernel/ports.ts';
import { unpacked, type ThreadMessage } from './answer-tasks.ts';

export interface PoolSettings extends ThreadSettings {
  readonly threads: number;
  readonly mostWaiting: number;
}

/** Ends a task that exceeds a limit, together with its thread. Other tasks continue. */
export class ThreadPool<Task, Result, News = never> {
  readonly #settings: PoolSettings;
  readonly #threads = new Set<WorkerThread<Task, Result, News>>();
  readonly #queue: PQueue;
  #isClosed = false;

  constructor(settings: PoolSettings) {
    this.#settings = settings;
    this.#queue = new PQueue({ concurrency: settings.threads });
  }

  /** @throws Overrun; Unavailable, also if too many tasks wait; DomainError and Error as the task threw them */
  async run(task: Task, onNews: (news: News) => void = () => undefined): Promise<Result> {
    if (this.#queue.size >= this.#settings.mostWaiting) {
      throw busy('too many tasks wait for a thread');
    }
    return this.#queue.add(() => this.#thread().work(task, onNews));
  }

  get size(): number {
    return this.#threads.size;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#threads].map((thread) => thread.end()));
  }

  #thread(): WorkerThread<Task, Result, News> {
    if (this.#isClosed) throw busy('the process is stopping');
    const free = [...this.#threads].find(({ isFree }) => isFree);
    if (free) return free;
    const thread = new WorkerThread<Task, Result, News>(this.#settings, () => {
      this.#threads.delete(thread);
    });
    this.#threads.add(thread);
    return thread;
  }
}

const busy = (why: string): Unavailable =>
  new Unavailable('A worker thread', new Error(why), 'has too much to do');

const mib = 1024 * 1024;
const startMs = 60_000;
const memoryLookMs = 200;
/** With a smaller heap, V8 ends the whole process when the thread starts. */
const smallestHeapMiB = 64;

export interface ThreadLimits {
  readonly deadlineMs: number;
  readonly memoryMiB: number;
}

interface ThreadSettings extends ThreadLimits {
  readonly entry: URL;
  readonly setup?: unknown;
  readonly idleMs?: number;
}

export class Overrun extends Error {
  override readonly name = 'Overrun';
  readonly of: 'time' | 'memory';

  constructor(of: 'time' | 'memory') {
    super(`ended because it took too much ${of}`);
    this.of = of;
  }
}

interface Work<Result, News> extends PromiseWithResolvers<Result> {
  readonly onNews: (news: News) => void;
}

class WorkerThread<Task, Result, News> {
  readonly #worker: Worker;
  readonly #settings: ThreadSettings;
  #work: Work<Result, News> | undefined;
  #why: Error | undefined;
  #deadline: NodeJS.Timeout | undefined;
  #looking: NodeJS.Timeout | undefined;

  constructor(settings: ThreadSettings, onEnd: () => void) {
    this.#settings = settings;
    this.#worker = new Worker(settings.entry, {
      workerData: settings.setup,
      // The environment is empty, so that the thread sees no secrets.
      env: {},
      resourceLimits: {
        maxOldGenerationSizeMb: Math.max(settings.memoryMiB, smallestHeapMiB),
        stackSizeMb: 4,
      },
    });
    this.#worker
      .on('message', (message: ThreadMessage<Result, News>) => {
        this.#hear(message);
      })
      .on('error', (error: NodeJS.ErrnoException) => {
        const { code } = error;
        this.#why ??= code === 'ERR_WORKER_OUT_OF_MEMORY' ? new Overrun('memory') : broken(error);
      })
      .on('exit', () => {
        onEnd();
        // Rejects only after all work has stopped.
        this.#settle()?.reject(this.#why ?? broken(new Error('it ended unexpectedly')));
      })
      .unref();
  }

  get isFree(): boolean {
    return !this.#work && !this.#why;
  }

  work(task: Task, onNews: (news: News) => void): Promise<Result> {
    this.#work = { ...Promise.withResolvers<Result>(), onNews };
    this.#worker.ref();
    this.#endAfter(startMs, broken(new Error('it did not begin')));
    this.#worker.postMessage(task);
    return this.#work.promise;
  }

  async end(why: Error = broken(new Error('it was stopped'))): Promise<void> {
    this.#why ??= why;
    await this.#worker.terminate();
  }

  #hear(message: ThreadMessage<Result, News>): void {
    switch (message.kind) {
      case 'begun':
        this.#endAfter(this.#settings.deadlineMs, new Overrun('time'));
        this.#looking = setInterval(() => void this.#look(), memoryLookMs);
        return;
      case 'news':
        this.#work?.onNews(message.news);
        return;
      case 'done':
        this.#rest()?.resolve(message.result);
        return;
      case 'failed':
        this.#rest()?.reject(unpacked(message.failure));
    }
  }

  #endAfter(ms: number, why?: Error): void {
    clearTimeout(this.#deadline);
    this.#deadline = setTimeout(() => void this.end(why), ms).unref();
  }

  /** Measures buffers too, because V8's own limit does not include them. */
  async #look(): Promise<void> {
    const watched = this.#work;
    const use = await this.#worker.getHeapStatistics().catch(() => undefined);
    if (!use || watched !== this.#work) return;
    const bytes = use.used_heap_size + use.external_memory;
    if (bytes > this.#settings.memoryMiB * mib) await this.end(new Overrun('memory'));
  }

  #rest(): Work<Result, News> | undefined {
    const work = this.#settle();
    this.#worker.unref();
    this.#endAfter(this.#settings.idleMs ?? 60_000);
    return work;
  }

  #settle(): Work<Result, News> | undefined {
    const work = this.#work;
    this.#work = undefined;
    clearTimeout(this.#deadline);
    clearInterval(this.#looking);
    return work;
  }
}

const broken = (error: unknown): Unavailable => new Unavailable('A worker thread', error, 'failed');
