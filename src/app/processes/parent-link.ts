import cluster from 'node:cluster';
import pTimeout from 'p-timeout';
import type { MetricSnapshot } from '../../adapters/http/metrics/metrics.ts';

/** Why a process stops: the whole service ends, or another process has taken its place. */
export type Stopping = 'ending' | 'replaced';

/** Where the service is, by role. */
export type Places = Readonly<Record<string, string>>;

export type FromChild =
  | { readonly type: 'serving'; readonly places: Places }
  | { readonly type: 'metrics wanted' }
  /** Because it was asked, or before it ends. */
  | { readonly type: 'snapshot'; readonly snapshot: MetricSnapshot };

export type FromParent =
  | { readonly type: 'introduce' }
  | { readonly type: 'stop'; readonly why: Stopping }
  | { readonly type: 'snapshot wanted' }
  | { readonly type: 'metrics'; readonly snapshots: readonly MetricSnapshot[] };

/** Set in the environment of a process that another one of this program started. */
export const parentVariable = 'ANIMAL_STORE_PARENT' as const;

/** Longer than the parent waits for the others. */
const gatheringMs = 4_000;

/** The next message of one kind, for all that wait for it. */
export class NextMessage<Content> {
  #next = Promise.withResolvers<Content>();

  /** @returns undefined when it does not come in time */
  within(milliseconds: number): Promise<Content | undefined> {
    return pTimeout(this.#next.promise, { milliseconds, fallback: () => undefined });
  }

  came(content: Content): void {
    this.#next.resolve(content);
    this.#next = Promise.withResolvers();
  }
}

interface Serving {
  readonly places: Places;
  readonly introduce: () => Promise<void>;
  readonly snapshot: () => Promise<MetricSnapshot>;
}

/** The end of a child: what its parent asks of it, and what it asks of its parent. */
export class ParentLink {
  readonly #metrics = new NextMessage<readonly MetricSnapshot[]>();
  #stop: (why: Stopping) => void = () => process.exit(0);
  #serving: Serving | undefined;

  constructor() {
    // Otherwise Node ends a child at once when its parent has died.
    if (cluster.worker) cluster.worker.exitedAfterDisconnect = true;
    process.once('disconnect', () => {
      this.#stop('ending');
    });
    if (!process.connected) process.exit(0);
    // A supervisor may send this one to every process. What a terminal sends to all of them, the parent passes on.
    process.on('SIGTERM', () => {
      this.#stop('ending');
    });
    for (const signal of ['SIGINT', 'SIGHUP']) process.on(signal, () => undefined);
    process.on('message', (message: FromParent) => void this.#hear(message));
  }

  /** @param stop may be called more than once; until it is known, stopping ends the process at once */
  onStop(stop: (why: Stopping) => void): void {
    this.#stop = stop;
  }

  serves(serving: Serving): void {
    this.#serving = serving;
    void tell({ type: 'serving', places: serving.places });
  }

  /** The metrics of all processes. @returns undefined when the parent does not answer in time */
  gatherMetrics(): Promise<readonly MetricSnapshot[] | undefined> {
    void tell({ type: 'metrics wanted' });
    return this.#metrics.within(gatheringMs);
  }

  /** Tells the parent the metrics of this process, which it keeps when this one ends. */
  async leave(): Promise<void> {
    if (this.#serving) await tell({ type: 'snapshot', snapshot: await this.#serving.snapshot() });
  }

  /** Lets a process that cannot serve end by itself, after it has said why. */
  letGo(): void {
    this.#stop = () => undefined;
    if (process.connected) process.disconnect();
  }

  async #hear(message: FromParent): Promise<void> {
    switch (message.type) {
      case 'stop':
        this.#stop(message.why);
        break;
      case 'introduce':
        await this.#serving?.introduce();
        break;
      case 'metrics':
        this.#metrics.came(message.snapshots);
        break;
      case 'snapshot wanted':
        await this.leave();
    }
  }
}

/** Returns once it is sent, or the parent has died. */
const tell = (message: FromChild): Promise<void> =>
  new Promise((resolve) => {
    if (!process.connected) resolve();
    else
      process.send?.(message, undefined, undefined, () => {
        resolve();
      });
  });

/** @returns undefined in a process that no other one of this program started */
export const linkToParent = (): ParentLink | undefined => {
  if (process.env[parentVariable] === undefined) return undefined;
  // What this process starts is no child of that parent.
  delete process.env['ANIMAL_STORE_PARENT'];
  return new ParentLink();
};
