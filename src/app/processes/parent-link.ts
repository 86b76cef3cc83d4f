import cluster from 'node:cluster';
import type { MetricSnapshot } from '../../adapters/http/metrics/metrics.ts';
import {
  Questions,
  type FromChild,
  type FromParent,
  type Places,
  type Stopping,
} from './messages.ts';

/** Set in the environment of a process that another one of this program started. */
export const parentVariable = 'ANIMAL_STORE_PARENT' as const;

/** Longer than the parent waits for the others. */
const gatheringMs = 4_000;

interface Serving {
  readonly places: Places;
  readonly introduce: () => Promise<void>;
  readonly snapshot: () => Promise<MetricSnapshot>;
}

/** The end of a child: what its parent asks of it, and what it asks of its parent. */
export class ParentLink {
  readonly #gathered = new Questions<readonly MetricSnapshot[]>(gatheringMs);
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
    return this.#gathered.ask((question) => void tell({ type: 'metrics wanted', question }));
  }

  /** Leaves the last metrics with the parent. */
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
        this.#gathered.answered(message.question, message.snapshots);
        break;
      case 'snapshot wanted': {
        const { question } = message;
        const snapshot = await this.#serving?.snapshot();
        if (snapshot) await tell({ type: 'snapshot', question, snapshot });
      }
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
