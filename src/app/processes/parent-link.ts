import cluster from 'node:cluster';
import pTimeout from 'p-timeout';
import type { MetricSnapshot } from '../../adapters/http/metrics/metrics.ts';

/** `ending`: the whole service stops. `replaced`: another process took over. */
export type Stopping = 'ending' | 'replaced';

export type FromChild =
  | { readonly type: 'serving' }
  | { readonly type: 'metrics wanted' }
  | { readonly type: 'snapshot'; readonly snapshot: MetricSnapshot };

export type FromParent =
  | { readonly type: 'introduce' }
  | { readonly type: 'stop'; readonly why: Stopping }
  | { readonly type: 'snapshot wanted' }
  | { readonly type: 'metrics'; readonly snapshots: readonly MetricSnapshot[] };

export const parentVariable = 'ANIMAL_STORE_PARENT' as const;

/** Longer than the parent waits for the other processes. */
const gatheringMs = 4_000;

export class NextMessage<Content> {
  #next = Promise.withResolvers<Content>();

  within(milliseconds: number): Promise<Content | undefined> {
    return pTimeout(this.#next.promise, { milliseconds, fallback: () => undefined });
  }

  came(content: Content): void {
    this.#next.resolve(content);
    this.#next = Promise.withResolvers();
  }
}

interface Serving {
  readonly introduce: () => Promise<void>;
  readonly snapshot: () => Promise<MetricSnapshot>;
}

export class ParentLink {
  readonly #metrics = new NextMessage<readonly MetricSnapshot[]>();
  #stop: (why: Stopping) => void = () => process.exit(0);
  #serving: Serving | undefined;

  constructor() {
    // Without this, Node ends a child as soon as its parent dies.
    if (cluster.worker) cluster.worker.exitedAfterDisconnect = true;
    process.once('disconnect', () => {
      this.#stop('ending');
    });
    if (!process.connected) process.exit(0);
    // Supervisors may send SIGTERM to every process, so the child handles it too. The parent forwards signals from a
    // terminal.
    process.on('SIGTERM', () => {
      this.#stop('ending');
    });
    for (const signal of ['SIGINT', 'SIGHUP']) process.on(signal, () => undefined);
    process.on('message', (message: FromParent) => void this.#hear(message));
  }

  /** Sets the handler; until then, stopping exits at once. @param stop may be called repeatedly */
  onStop(stop: (why: Stopping) => void): void {
    this.#stop = stop;
  }

  serves(serving: Serving): void {
    this.#serving = serving;
    void tell({ type: 'serving' });
  }

  gatherMetrics(): Promise<readonly MetricSnapshot[] | undefined> {
    void tell({ type: 'metrics wanted' });
    return this.#metrics.within(gatheringMs);
  }

  async leave(): Promise<void> {
    if (this.#serving) await tell({ type: 'snapshot', snapshot: await this.#serving.snapshot() });
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

const tell = (message: FromChild): Promise<void> =>
  new Promise((resolve) => {
    if (!process.connected) resolve();
    else
      process.send?.(message, undefined, undefined, () => {
        resolve();
      });
  });

/** @returns undefined unless another process of this program started this one */
export const linkToParent = (): ParentLink | undefined => {
  if (process.env[parentVariable] === undefined) return undefined;
  // Processes started by this one are not that parent's children.
  delete process.env['ANIMAL_STORE_PARENT'];
  return new ParentLink();
};
