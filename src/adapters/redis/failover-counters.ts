import type { Counts } from '../../access/domain/rate-quota.ts';
import { QuotaCounters, type Take, type Taken } from '../../access/quota-ports.ts';
import { OutOfTime, Unavailable } from '../../kernel/unavailable.ts';

/** Counters of this process that can take over: they learn what the shared ones said last. */
export interface StandIn extends QuotaCounters {
  learn(subject: string, counts: Counts, now: Date): void;
}

export interface FailoverOptions {
  /** Hears when the shared counters go away (`true`) and come back (`false`). */
  readonly onLocal: (local: boolean) => void;
  /** Monotonic milliseconds. */
  readonly elapsed?: () => number;
}

/** How long a process may count by itself while the shared counters are away. */
export const longestAloneMs = 60_000;

/**
 * Shared counters, and for at most a minute without them the ones of this process, which go on from the last
 * counts they heard: an outage does not open quotas again. After that minute nothing is known: Unavailable.
 */
export class FailoverCounters extends QuotaCounters {
  readonly #shared: QuotaCounters;
  readonly #own: StandIn;
  readonly #onLocal: (local: boolean) => void;
  readonly #elapsed: () => number;
  #aloneSince: number | undefined;

  constructor(shared: QuotaCounters, own: StandIn, options: FailoverOptions) {
    super();
    this.#shared = shared;
    this.#own = own;
    this.#onLocal = options.onLocal;
    this.#elapsed = options.elapsed ?? (() => performance.now());
  }

  override take(take: Take): Promise<Taken> {
    return this.#either(
      async () => {
        const taken = await this.#shared.take(take);
        this.#own.learn(take.subject, taken.counts, take.now);
        return taken;
      },
      () => this.#own.take(take),
    );
  }

  override peek(subject: string, now: Date): Promise<Counts> {
    return this.#either(
      () => this.#shared.peek(subject, now),
      () => this.#own.peek(subject, now),
    );
  }

  async #either<T>(shared: () => Promise<T>, own: () => Promise<T>): Promise<T> {
    try {
      const answer = await shared();
      if (this.#aloneSince !== undefined) this.#onLocal(false);
      this.#aloneSince = undefined;
      return answer;
    } catch (error) {
      if (!(error instanceof Unavailable) || error instanceof OutOfTime) throw error;
      if (this.#aloneSince === undefined) this.#onLocal(true);
      this.#aloneSince ??= this.#elapsed();
      if (this.#elapsed() - this.#aloneSince > longestAloneMs) throw error;
      return own();
    }
  }
}
