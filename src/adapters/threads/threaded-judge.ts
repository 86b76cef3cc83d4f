import type { DnsFacts } from '../../domains/domain/dns/facts.ts';
import { unjudged, type DnsJudgement } from '../../domains/domain/dns/judgement.ts';
import type { DnsExpectation } from '../../domains/domain/dns/report.ts';
import { DnsJudge } from '../../domains/ports.ts';
import { ThreadPool } from './thread-pool.ts';
import { Overrun, type ThreadLimits } from './worker-thread.ts';

/** Limits for judging the answers about one domain, which usually takes less than a millisecond. */
export const judgingLimits: ThreadLimits = { deadlineMs: 3_000, memoryMiB: 128 };

export interface JudgingTask {
  readonly facts: DnsFacts;
  readonly expectation: DnsExpectation;
}

/** Judges in a separate thread. */
export class ThreadedJudge extends DnsJudge {
  readonly #pool: ThreadPool<JudgingTask, DnsJudgement>;

  /** @param limits other than usual for tests */
  constructor(entry: URL, limits: ThreadLimits = judgingLimits) {
    super();
    this.#pool = new ThreadPool({ entry, ...limits, threads: 1, mostWaiting: 1_000 });
  }

  override async judge(facts: DnsFacts, expectation: DnsExpectation): Promise<DnsJudgement> {
    try {
      return await this.#pool.run({ facts, expectation });
    } catch (error) {
      if (error instanceof Overrun) return unjudged(facts, expectation);
      throw error;
    }
  }

  close(): Promise<void> {
    return this.#pool.close();
  }
}
