import cluster from 'node:cluster';
import type { MetricSnapshot } from '../../adapters/http/metrics/metrics.ts';
import {
  Questions,
  type FromChild,
  type FromParent,
  type Places,
  type Stopping,
} from './messages.ts';
import { parentVariable } from './parent-link.ts';

/** The metrics that come from the database take up to half a second. */
const snapshotMs = 2_000;

export interface Ending {
  readonly code: number | null;
  readonly signal: string | null;
}

/** A process that serves, as its parent knows it. */
export interface Child {
  readonly pid: number | undefined;
  /** Undefined when it ended before it served. */
  readonly served: Promise<Places | undefined>;
  readonly ended: Promise<Ending>;
  /** Prints what a start says to people, with the first account. */
  introduce(): void;
  /** Ends it in good order; kills it if that takes too long. */
  stop(why: Stopping): void;
  kill(): void;
  /** Undefined when it does not answer in time. */
  snapshot(): Promise<MetricSnapshot | undefined>;
}

export interface ChildOptions {
  readonly roles: readonly string[];
  /** How long it may take to stop. */
  readonly stopMs: Readonly<Record<Stopping, number>>;
  /** The metrics of all children, for the one that was asked for them. */
  readonly gather: () => Promise<readonly MetricSnapshot[]>;
  /** Called with its last metrics when it ends in good order: before its exit or shortly after. */
  readonly onLast: (snapshot: MetricSnapshot) => void;
}

/** Starts this program once more, on the ports of the others. */
export const forkChild = ({ roles, stopMs, gather, onLast }: ChildOptions): Child => {
  const worker = cluster.fork({
    ROLES: roles.join(','),
    [parentVariable]: String(process.pid),
  });
  const snapshots = new Questions<MetricSnapshot>(snapshotMs);
  const served = Promise.withResolvers<Places | undefined>();
  const ended = Promise.withResolvers<Ending>();
  let serves = false;
  const tell = (message: FromParent) => {
    // One that has just ended gets no message.
    if (worker.isConnected()) worker.send(message, () => undefined);
  };
  const kill = () => void worker.process.kill('SIGKILL');
  worker.on('error', () => undefined);
  const end = (code: number | null, signal: string | null) => {
    ended.resolve({ code, signal });
    served.resolve(undefined);
  };
  worker.once('exit', end);
  // One that the system could not start has no exit.
  if (worker.process.pid === undefined) end(1, null);
  worker.on('message', (message: FromChild) => {
    switch (message.type) {
      case 'serving':
        serves = true;
        served.resolve(message.places);
        break;
      case 'snapshot':
        if (message.question === undefined) onLast(message.snapshot);
        else snapshots.answered(message.question, message.snapshot);
        break;
      case 'metrics wanted':
        // Unanswered, it shows its own.
        gather().then(
          (all) => {
            tell({ type: 'metrics', question: message.question, snapshots: all });
          },
          () => undefined,
        );
    }
  });
  return {
    pid: worker.process.pid,
    served: served.promise,
    ended: ended.promise,
    kill,
    introduce: () => {
      tell({ type: 'introduce' });
    },
    stop: (why) => {
      // One that is starting does not listen to messages yet.
      if (serves) tell({ type: 'stop', why });
      else worker.process.kill('SIGTERM');
      const timer = setTimeout(kill, stopMs[why]);
      worker.once('exit', () => {
        clearTimeout(timer);
      });
    },
    snapshot: () =>
      snapshots.ask((question) => {
        tell({ type: 'snapshot wanted', question });
      }),
  };
};
