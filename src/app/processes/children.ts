import cluster from 'node:cluster';
import { setTimeout as delay } from 'node:timers/promises';
import { measures, type MeasureName } from '../../adapters/http/metrics/measures.ts';
import { totalsOf, type MetricSnapshot } from '../../adapters/http/metrics/metrics.ts';
import {
  NextMessage,
  parentVariable,
  type FromChild,
  type FromParent,
  type Stopping,
} from './parent-link.ts';

/** Longer than metrics from the database take, which is up to half a second. */
const snapshotMs = 2_000;
/** A process's last metrics may arrive after its exit. */
const lastMessagesMs = 1_000;

export interface Ending {
  readonly code: number | null;
  readonly signal: string | null;
}

export interface Child {
  readonly pid: number | undefined;
  /** False if it ended before. */
  readonly served: Promise<boolean>;
  readonly ended: Promise<Ending>;
  introduce(): void;
  stop(why: Stopping): void;
  kill(): void;
  readonly lastSnapshot: MetricSnapshot | undefined;
  /** @returns undefined if the process does not answer in time */
  snapshot(): Promise<MetricSnapshot | undefined>;
}

export interface ChildOptions {
  readonly roles: readonly string[];
  readonly stopMs: Readonly<Record<Stopping, number>>;
  readonly gather: () => Promise<readonly MetricSnapshot[]>;
}

export const forkChild = ({ roles, stopMs, gather }: ChildOptions): Child => {
  const worker = cluster.fork({ ROLES: roles.join(','), [parentVariable]: String(process.pid) });
  const served = Promise.withResolvers<boolean>();
  const ended = Promise.withResolvers<Ending>();
  const snapshots = new NextMessage<MetricSnapshot>();
  let serves = false;
  let lastSnapshot: MetricSnapshot | undefined;
  const tell = (message: FromParent) => {
    if (worker.isConnected()) worker.send(message, () => undefined);
  };
  const kill = () => void worker.process.kill('SIGKILL');
  const end = (code: number | null, signal: string | null) => {
    ended.resolve({ code, signal });
    served.resolve(false);
  };
  worker.on('error', () => undefined);
  worker.once('exit', end);
  // If the system could not start the process, there is no exit event.
  if (worker.process.pid === undefined) end(1, null);
  worker.on('message', (message: FromChild) => {
    switch (message.type) {
      case 'serving':
        serves = true;
        served.resolve(true);
        break;
      case 'snapshot':
        lastSnapshot = message.snapshot;
        snapshots.came(message.snapshot);
        break;
      case 'metrics wanted':
        // If gathering fails, the child gets no answer and shows only its own metrics.
        gather()
          .then((snapshots) => {
            tell({ type: 'metrics', snapshots });
          })
          .catch(() => undefined);
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
      // A starting process does not listen to messages yet.
      if (serves) tell({ type: 'stop', why });
      else worker.process.kill('SIGTERM');
      const timer = setTimeout(kill, stopMs[why]);
      worker.once('exit', () => {
        clearTimeout(timer);
      });
    },
    get lastSnapshot() {
      return lastSnapshot;
    },
    snapshot: () => {
      tell({ type: 'snapshot wanted' });
      return snapshots.within(snapshotMs);
    },
  };
};

export class GatheredMetrics {
  readonly #children = new Set<Child>();
  #totalsOfEnded: Promise<MetricSnapshot> = Promise.resolve([]);

  /** Waits until the child has ended and its counts are kept. */
  async add(child: Child): Promise<void> {
    this.#children.add(child);
    await child.ended;
    await delay(lastMessagesMs, undefined, { ref: false });
    this.#children.delete(child);
    this.#totalsOfEnded = this.#totalsOfEnded.then((before) =>
      totalsOf([before, snapshotOf(child)]).catch(() => before),
    );
  }

  async gather(serving: readonly Child[], replaced: number): Promise<readonly MetricSnapshot[]> {
    const ask = async (child: Child) => ((await child.snapshot()) ? [child] : []);
    const answered = new Set((await Promise.all(serving.map(ask))).flat());
    // A child that ended meanwhile may already be in the totals.
    const known = [...this.#children];
    const present = known.filter((child) => answered.has(child)).map(snapshotOf);
    const away = known.filter((child) => !answered.has(child)).map(snapshotOf);
    return [
      ...present,
      await totalsOf([await this.#totalsOfEnded, ...away]),
      aboutProcesses(present.length, serving.length - present.length, replaced),
    ];
  }
}

const snapshotOf = ({ lastSnapshot = [] }: Child): MetricSnapshot => lastSnapshot;

const aboutProcesses = (serving: number, silent: number, replaced: number): MetricSnapshot => [
  known('processes', [
    { value: serving, labels: { state: 'serving' } },
    { value: silent, labels: { state: 'silent' } },
  ]),
  known('processes_replaced_total', [{ value: replaced, labels: {} }]),
];

type Known = MetricSnapshot[number];

const known = (name: MeasureName, values: Known['values']): Known => {
  const { type, help, together: aggregator } = measures[name];
  return { name, type, help, aggregator, values };
};
