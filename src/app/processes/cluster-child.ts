import cluster, { type Worker } from 'node:cluster';
import type { MetricSnapshot } from '../../adapters/http/metrics/together.ts';
import type { Child, Ending } from './child.ts';
import type { FromChild, FromParent, Places, Stopping } from './messages.ts';
import { parentVariable } from './parent-link.ts';
import { Questions } from './questions.ts';

/** The metrics that come from the database take up to half a second. */
const snapshotMs = 2_000;
/** After the exit. */
const lastMessagesMs = 1_000;

export interface ChildOptions {
  readonly roles: readonly string[];
  /** How long it may take to stop. */
  readonly stopMs: Readonly<Record<Stopping, number>>;
  /** The metrics of all children, for the one that was asked for them. */
  readonly gather: () => Promise<readonly MetricSnapshot[]>;
  /** Called with its last metrics before it ends in good order. */
  readonly onLast: (snapshot: MetricSnapshot) => void;
}

/** Starts this program once more, on the ports of the others. */
export const forkChild = (options: ChildOptions): Child => {
  const worker = cluster.fork({
    ROLES: options.roles.join(','),
    [parentVariable]: String(process.pid),
  });
  const snapshots = new Questions<MetricSnapshot>(snapshotMs);
  const served = Promise.withResolvers<Places | undefined>();
  const ended = endOf(worker);
  let serves = false;
  const tell = (message: FromParent) => {
    // One that has just ended gets no message.
    if (worker.isConnected()) worker.send(message, () => undefined);
  };
  worker.on('error', () => undefined);
  void ended.then(() => {
    served.resolve(undefined);
  });
  worker.on('message', (message: FromChild) => {
    switch (message.type) {
      case 'serving':
        serves = true;
        served.resolve(message.places);
        break;
      case 'snapshot':
        if (message.question === undefined) options.onLast(message.snapshot);
        else snapshots.answered(message.question, message.snapshot);
        break;
      case 'metrics wanted':
        // Unanswered, it shows its own.
        options.gather().then(
          (all) => {
            tell({ type: 'metrics', question: message.question, snapshots: all });
          },
          () => undefined,
        );
    }
  });
  const kill = () => void worker.process.kill('SIGKILL');
  return {
    pid: worker.process.pid,
    served: served.promise,
    ended,
    kill,
    introduce: () => {
      tell({ type: 'introduce' });
    },
    stop: (why) => {
      // One that is starting does not listen to messages yet.
      if (serves) tell({ type: 'stop', why });
      else worker.process.kill('SIGTERM');
      killLate(worker, options.stopMs[why]);
    },
    snapshot: () =>
      snapshots.ask((question) => {
        tell({ type: 'snapshot wanted', question });
      }),
  };
};

/**
 * Its last messages may come after its exit, until it is disconnected. Node does not disconnect one that was killed before
 * it took a listening socket. One that the system could not start has no exit.
 */
const endOf = (worker: Worker): Promise<Ending> =>
  new Promise((resolve) => {
    if (worker.process.pid === undefined) {
      resolve({ code: 1, signal: null });
      return;
    }
    worker.once('exit', (code: number | null, signal: string | null) => {
      const end = () => {
        clearTimeout(timer);
        resolve({ code, signal });
      };
      const timer = setTimeout(end, lastMessagesMs);
      if (worker.isConnected()) worker.once('disconnect', end);
      else end();
    });
  });

const killLate = (worker: Worker, ms: number): void => {
  const timer = setTimeout(() => worker.process.kill('SIGKILL'), ms);
  worker.once('exit', () => {
    clearTimeout(timer);
  });
};
