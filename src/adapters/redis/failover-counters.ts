import type { Counts } from '../../access/domain/quota.ts';
import { QuotaCounters, type Take, type Taken } from '../../access/ports.ts';
import { OutOfTime, Unavailable } from '../../kernel/ports.ts';

/** Local counters that can take over; they follow the last shared counts. */
export interface StandIn extends QuotaCounters {
  readonly subjects: Iterable<string>;
  learn(subject: string, counts: Counts, now: Date): void;
}

/** Counters elsewhere, behind connections that may lead to another server each time. */
export interface SharedCounters extends QuotaCounters {
  /** Calls for each new connection, before it is used: it may lead to a server that lacks the last counts. */
  onConnected(listener: () => void): void;
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
 * When the shared ones are back, they may be behind: they got no counts meanwhile, and another server may have taken over
 * that had not yet received the last ones, or none. So the first take of each subject brings what this process knows.
 */
export class FailoverCounters extends QuotaCounters {
  readonly #shared: SharedCounters;
  readonly #own: StandIn;
  readonly #onLocal: (local: boolean) => void;
  readonly #elapsed: () => number;
  #aloneSince: number | undefined;
  /** Subjects with no take since the last outage, or new connection. */
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

  /** An answer does not end an outage: a server that cannot store counts can still read them. */
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

  /** @throws the error, unless this process may count by itself because of it */
  #mayCount(error: unknown): void {
    if (!(error instanceof Unavailable) || error instanceof OutOfTime) throw error;
    if (this.#aloneSince === undefined) this.#onLocal(true);
    this.#aloneSince ??= this.#elapsed();
    if (this.#elapsed() - this.#aloneSince > longestAloneMs) throw error;
  }
}
