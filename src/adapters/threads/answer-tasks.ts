import { parentPort, workerData } from 'node:worker_threads';
import { packed, type ThreadMessage } from './thread-messages.ts';

/** What a thread does: with the setup of its pool, then with each task. */
type ThreadWork<Setup, Task, Result, News> = (
  setup: Setup,
) => (task: Task, tell: (news: News) => void) => Promise<Result> | Result;

/**
 * Makes the current thread one of a `ThreadPool`.
 * @param prepare is given the `setup` of the pool, and makes what does each task
 */
export const answerTasks = <Setup, Task, Result, News = never>(
  prepare: ThreadWork<Setup, Task, Result, News>,
): void => {
  const work = prepare(workerData as Setup);
  const say = (message: ThreadMessage<Result, News>): void => {
    parentPort?.postMessage(message);
  };
  const tell = (news: News): void => {
    say({ kind: 'news', news });
  };
  const answer = async (task: Task): Promise<void> => {
    say({ kind: 'begun' });
    try {
      say({ kind: 'done', result: await work(task, tell) });
    } catch (error) {
      say({ kind: 'failed', failure: packed(error) });
    }
  };
  parentPort?.on('message', (task: Task) => void answer(task));
};
