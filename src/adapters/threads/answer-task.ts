import { parentPort, workerData } from 'node:worker_threads';
import { DomainError } from '../../kernel/decision.ts';
import { Unavailable } from '../../kernel/ports.ts';

type ThreadWork<Task, Result, News> = (
  task: Task,
  tell: (news: News) => void,
) => Promise<Result> | Result;

/** Does the task that this thread was started with, and reports its result. */
export const answerTask = async <Task, Result, News = never>(
  work: ThreadWork<Task, Result, News>,
): Promise<void> => {
  const say = (message: ThreadMessage<Result, News>): void => {
    parentPort?.postMessage(message);
  };
  const tell = (news: News): void => {
    say({ kind: 'news', news });
  };
  try {
    say({ kind: 'done', result: await work(workerData as Task, tell) });
  } catch (error) {
    say({ kind: 'failed', failure: packed(error) });
  }
};

export type ThreadMessage<Result, News> =
  | { readonly kind: 'news'; readonly news: News }
  | { readonly kind: 'done'; readonly result: Result }
  | { readonly kind: 'failed'; readonly failure: Failure };

/** Plain data, because errors lose their classes and fields between threads. */
interface Failure {
  readonly error: Error;
  readonly code?: string;
  readonly what?: string;
}

const packed = (error: unknown): Failure => {
  if (error instanceof DomainError) return { error, code: (error as DomainError).code };
  if (error instanceof Unavailable) return { error, what: error.what };
  return { error: error instanceof Error ? error : new Error(String(error)) };
};

export const unpacked = ({ error, code, what }: Failure): Error => {
  if (code !== undefined) return new DomainError(code, error.message);
  if (what === undefined) return error;
  return new Unavailable(what, error.cause, error.message.slice(what.length + 1));
};

const newsEveryMs = 20;

export const throttle = <News>(tell: (news: News) => void): ((news: News) => void) => {
  let toldAt = -Infinity;
  return (news) => {
    const now = performance.now();
    if (now - toldAt < newsEveryMs) return;
    toldAt = now;
    tell(news);
  };
};
