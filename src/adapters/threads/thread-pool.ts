import PQueue from 'p-queue';
import { Unavailable } from '../../kernel/unavailable.ts';
import { WorkerThread, type ThreadSettings } from './worker-thread.ts';

export interface PoolSettings extends ThreadSettings {
  /** Most threads; they are started on demand. */
  readonly threads: number;
  /** Tasks that may wait for a thread. */
  readonly mostWaiting: number;
}

/**
 * Threads for one kind of work with untrusted size. A task that exceeds a limit ends with its thread, and the next one
 * gets a new thread; the process and all other tasks continue.
 */
export class ThreadPool<Task, Result, News = never> {
  readonly #settings: PoolSettings;
  readonly #threads = new Set<WorkerThread<Task, Result, News>>();
  readonly #turns: PQueue;
  #isClosed = false;

  constructor(settings: PoolSettings) {
    this.#settings = settings;
    this.#turns = new PQueue({ concurrency: settings.threads });
  }

  /**
   * @param onNews called with progress messages of the task
   * @throws Overrun; Unavailable also when too many wait; DomainError and Error as the task threw them
   */
  async run(task: Task, onNews: (news: News) => void = () => undefined): Promise<Result> {
    if (this.#turns.size >= this.#settings.mostWaiting) {
      throw busy('too many tasks wait for a thread');
    }
    return this.#turns.add(() => this.#thread().work(task, onNews));
  }

  /** How many threads there are now. */
  get size(): number {
    return this.#threads.size;
  }

  /** Ends all threads; running and waiting tasks fail. */
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
