import type { Counts } from '../../access/domain/quota.ts';
import { QuotaCounters, type Take, type Taken } from '../../access/ports.ts';
import { OutOfTime, Unavailable } from '../../kernel/ports.ts';

export interface StandIn extends QuotaCounters {
  readonly subjects: Iterable<string>;
  learn(subject: string, counts: Counts, now: Date): void;
}

export interface SharedCounters extends QuotaCounters {
  /** When they stopped answering, in monotonic milliseconds. */
  readonly awaySince: number | undefined;
  /** Calls the listener for each new connection, because the new server may lack the last counts. */
  onConnected(listener: () => void): void;
}

export interface FailoverOptions {
  /** Called with `true` when the shared counters become unreachable. */
  readonly onLocal: (local: boolean) => void;
  /** Monotonic milliseconds. */
  readonly elapsed?: () => number;
}

export const longestAloneMs = 60_000;

/**
 * During an outage, local counters replace the shared ones for at most a minute. Afterwards the shared counts may be
 * too low, so the first take of each subject also sends the local counts.
 */
export class FailoverCounters extends QuotaCounters {
  readonly #shared: SharedCounters;
  readonly #own: StandIn;
  readonly #onLocal: (local: boolean) => void;
  readonly #elapsed: () => number;
  #aloneSince: number | undefined;
  #untold = new Set<string>();

  constructor(shared: SharedCounters, own: StandIn, options: FailoverOptions) {
    super();
    this.#shared = shared;
    this.#own = own;
    this.#onLocal = options.onLocal;
    this.#elapsed = options.elapsed ?? (() => performance.now());
    shared.onConnected(() => {
      this.#mayHaveForgotten();
    });
  }

  override async take(take: Take): Promise<Taken> {
    try {
      const taken = await this.#shared.take(await this.#withKnown(take));
      this.#isBack();
      this.#untold.delete(take.subject);
      this.#own.learn(take.subject, taken.counts, take.now);
      return taken;
    } catch (error) {
      this.#mayCount(error);
      return this.#own.take(take);
    }
  }

  /** A successful read does not end an outage, because a server that cannot write may still read. */
  override async peek(subject: string, now: Date): Promise<Counts> {
    try {
      return await this.#shared.peek(subject, now);
    } catch (error) {
      this.#mayCount(error);
      return this.#own.peek(subject, now);
    }
  }

  #mayHaveForgotten(): void {
    this.#untold = new Set(this.#own.subjects);
  }

  async #withKnown(take: Take): Promise<Take> {
    const isKnownHere = this.#aloneSince !== undefined || this.#untold.has(take.subject);
    if (!isKnownHere) return take;
    return { ...take, atLeast: await this.#own.peek(take.subject, take.now) };
  }

  #isBack(): void {
    if (this.#aloneSince === undefined) return;
    this.#aloneSince = undefined;
    this.#mayHaveForgotten();
    this.#onLocal(false);
  }

  /** @throws the error unless this process may count alone */
  #mayCount(error: unknown): void {
    if (!(error instanceof Unavailable) || error instanceof OutOfTime) throw error;
    if (this.#aloneSince === undefined) this.#onLocal(true);
    // The first request may come long after the outage began.
    this.#aloneSince = this.#shared.awaySince ?? this.#aloneSince ?? this.#elapsed();
    if (this.#elapsed() - this.#aloneSince > longestAloneMs) throw error;
  }
}
