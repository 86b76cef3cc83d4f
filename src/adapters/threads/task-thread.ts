import { Worker } from 'node:worker_threads';
import { Unavailable } from '../../kernel/ports.ts';
import { unpacked, type ThreadMessage } from './answer-task.ts';

const mib = 1024 * 1024;
const memoryLookMs = 200;
/** With a smaller heap, V8 ends the whole process when the thread starts. */
const smallestHeapMiB = 64;

export interface ThreadLimits {
  readonly deadlineMs: number;
  readonly memoryMiB: number;
}

interface TaskOf<Task, News> extends ThreadLimits {
  readonly entry: URL;
  readonly task: Task;
  readonly onNews: (news: News) => void;
  /** Its reason is the error of a task that it ends. */
  readonly signal: AbortSignal;
}

export class Overrun extends Error {
  override readonly name = 'Overrun';
  readonly of: 'time' | 'memory';

  constructor(of: 'time' | 'memory') {
    super(`ended because it took too much ${of}`);
    this.of = of;
  }
}

/**
 * Runs a task in a thread of its own, which ends with it. After a failure, all its work has stopped.
 * @throws Overrun; Unavailable; DomainError and Error as the task threw them
 */
export const runInThread = <Task, Result, News = never>({
  signal,
  onNews,
  ...given
}: TaskOf<Task, News>): Promise<Result> =>
  new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const worker = startThread(given);
    let why: Error | undefined;
    const end = (reason: Error): void => {
      why ??= reason;
      void worker.terminate();
    };
    const stop = () => {
      end(signal.reason as Error);
    };
    const stopWatching = watch(worker, given, end);
    signal.addEventListener('abort', stop);
    worker
      .on('message', (message: ThreadMessage<Result, News>) => {
        if (message.kind === 'news') onNews(message.news);
        if (message.kind === 'failed') end(unpacked(message.failure));
        if (message.kind !== 'done') return;
        resolve(message.result);
        void worker.terminate();
      })
      .on('error', (error: NodeJS.ErrnoException) => {
        const { code } = error;
        why ??= code === 'ERR_WORKER_OUT_OF_MEMORY' ? new Overrun('memory') : broken(error);
      })
      .on('exit', () => {
        stopWatching();
        signal.removeEventListener('abort', stop);
        reject(why ?? broken(new Error('it ended unexpectedly')));
      });
  });

const startThread = ({
  entry,
  task,
  memoryMiB,
}: Omit<TaskOf<unknown, never>, 'signal' | 'onNews'>) =>
  new Worker(entry, {
    workerData: task,
    // The environment is empty, so that the thread sees no secrets.
    env: {},
    resourceLimits: {
      maxOldGenerationSizeMb: Math.max(memoryMiB, smallestHeapMiB),
      stackSizeMb: 4,
    },
  });

/** Measures buffers too, because V8's own limit does not include them. @returns a function that ends it */
const watch = (
  worker: Worker,
  { deadlineMs, memoryMiB }: ThreadLimits,
  end: (reason: Overrun) => void,
): (() => void) => {
  const deadline = setTimeout(end, deadlineMs, new Overrun('time'));
  const look = async (): Promise<void> => {
    const use = await worker.getHeapStatistics().catch(() => undefined);
    if (use && use.used_heap_size + use.external_memory > memoryMiB * mib)
      end(new Overrun('memory'));
  };
  const looks = setInterval(() => void look(), memoryLookMs);
  return () => {
    clearTimeout(deadline);
    clearInterval(looks);
  };
};

export const broken = (error: unknown): Unavailable =>
  new Unavailable('A worker thread', error, 'failed');
