import { DomainError } from '../../kernel/decision.ts';
import type { SiteContents } from '../../sites/domain/site-contents.ts';
import type { UploadProblem } from '../../sites/domain/sites-error.ts';
import {
  SiteUnpacking,
  type DeployPlace,
  type OnProgress,
  type UploadProgress,
} from '../../sites/ports.ts';
import { Overrun, ThreadPool, type PoolSettings, type ThreadLimits } from './thread-pool.ts';

/** Unpacking the largest allowed site takes about a minute on an idle processor. */
const unpackingLimits: ThreadLimits = { deadlineMs: 10 * 60_000, memoryMiB: 256 };

export interface UnpackingTask {
  readonly deploy: DeployPlace;
  readonly place: string;
}

export class ThreadedUnpacking extends SiteUnpacking {
  readonly #pool: ThreadPool<UnpackingTask, SiteContents, UploadProgress>;
  readonly #limits: ThreadLimits;

  constructor(settings: Pick<PoolSettings, 'entry' | 'setup' | 'threads'> & Partial<ThreadLimits>) {
    super();
    this.#limits = { ...unpackingLimits, ...settings };
    this.#pool = new ThreadPool({ ...settings, ...this.#limits, mostWaiting: 100 });
  }

  override async unpack(
    deploy: DeployPlace,
    place: string,
    onProgress: OnProgress,
  ): Promise<SiteContents> {
    try {
      return await this.#pool.run({ deploy, place }, onProgress);
    } catch (error) {
      throw error instanceof Overrun ? this.#refusal(error) : error;
    }
  }

  close(): Promise<void> {
    return this.#pool.close();
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
