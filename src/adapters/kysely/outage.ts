/** Called once when the database becomes unreachable, and once when it is back. */
export interface OutageListener {
  onAway(error: unknown): void;
  onBack(awayMs: number): void;
}

/** A success ends the outage only after this long without a failure. */
const quietMs = 5000;

/** Reports each outage once, however many callers it affects. */
export class Outage {
  readonly #listener: OutageListener | undefined;
  readonly #elapsed: () => number;
  #since: number | undefined;
  #lastFailureAt = 0;

  /** @param elapsed monotonic milliseconds */
  constructor(
    listener: OutageListener | undefined,
    elapsed: () => number = () => performance.now(),
  ) {
    this.#listener = listener;
    this.#elapsed = elapsed;
  }

  failed(error: unknown): void {
    this.#lastFailureAt = this.#elapsed();
    if (this.#since !== undefined) return;
    this.#since = this.#lastFailureAt;
    this.#listener?.onAway(error);
  }

  succeeded(): void {
    if (this.#since === undefined) return;
    const now = this.#elapsed();
    if (now - this.#lastFailureAt < quietMs) return;
    this.#listener?.onBack(now - this.#since);
    this.#since = undefined;
  }
}
