import { DomainError } from '../../kernel/decision.ts';
import type { SiteContents } from '../../sites/domain/site-contents.ts';
import type { UploadProblem } from '../../sites/domain/sites-error.ts';
import {
  SiteUnpacking,
  type DeployPlace,
  type OnProgress,
  type UploadProgress,
} from '../../sites/ports.ts';
import { broken, Overrun, runInThread, type ThreadLimits } from './task-thread.ts';

/** Unpacking the largest allowed site takes about a minute on an idle processor. */
const unpackingLimits: ThreadLimits = { deadlineMs: 10 * 60_000, memoryMiB: 256 };

export interface UnpackingTask {
  readonly folder: string;
  readonly deploy: DeployPlace;
  readonly place: string;
}

interface UnpackingSettings extends Partial<ThreadLimits> {
  readonly entry: URL;
  readonly folder: string;
}

export class ThreadedUnpacking extends SiteUnpacking {
  readonly #entry: URL;
  readonly #folder: string;
  readonly #limits: ThreadLimits;
  readonly #closing = new AbortController();
  readonly #running = new Set<Promise<SiteContents>>();

  constructor({ entry, folder, ...limits }: UnpackingSettings) {
    super();
    this.#entry = entry;
    this.#folder = folder;
    this.#limits = { ...unpackingLimits, ...limits };
  }

  override async unpack(
    deploy: DeployPlace,
    place: string,
    onProgress: OnProgress,
  ): Promise<SiteContents> {
    const running = runInThread<UnpackingTask, SiteContents, UploadProgress>({
      ...this.#limits,
      entry: this.#entry,
      task: { folder: this.#folder, deploy, place },
      onNews: onProgress,
      signal: this.#closing.signal,
    });
    this.#running.add(running);
    try {
      return await running;
    } catch (error) {
      throw error instanceof Overrun ? this.#refusal(error) : error;
    } finally {
      this.#running.delete(running);
    }
  }

  async close(): Promise<void> {
    this.#closing.abort(broken(new Error('the process is stopping')));
    await Promise.allSettled(this.#running);
  }

  #refusal({ of }: Overrun): DomainError<UploadProblem> {
    const { deadlineMs, memoryMiB } = this.#limits;
    const [time, memory] = [`${String(deadlineMs / 60_000)} minutes`, `${String(memoryMiB)} MiB`];
    const took = of === 'time' ? `longer than ${time}` : `more than ${memory} of memory`;
    return new DomainError(
      'archive_too_costly',
      `Unpacking and compressing took ${took}. Publish less, or fewer files.`,
    );
  }
}
