import type { Counts } from '../../access/domain/rate-quota.ts';
import { QuotaCounters, type Take, type Taken } from '../../access/quota-ports.ts';
import { OutOfTime, Unavailable } from '../../kernel/unavailable.ts';

/** Local counters that can take over; they follow the last shared counts. */
export interface StandIn extends QuotaCounters {
  learn(subject: string, counts: Counts, now: Date): void;
}

export interface FailoverOptions {
  /** Called when the shared counters become unreachable (`true`) and return (`false`). */
  readonly onLocal: (local: boolean) => void;
  /** Monotonic milliseconds. */
  readonly elapsed?: () => number;
}

/** How long a process may count locally during an outage of the shared counters. */
export const longestAloneMs = 60_000;

/**
 * Shared counters. During an outage, local counters continue from the last known counts for at most a minute, so that
 * an outage does not reset quotas. After that: Unavailable.
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
