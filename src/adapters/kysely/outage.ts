/** Hears once that the database went away, and once that it is back. */
export interface OutageListener {
  onAway(error: unknown): void;
  onBack(awayMs: number): void;
}

/** While some still fail, a success does not mean that it is over. */
const quietMs = 5000;

/** Tells of an outage once, however many meet it. */
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
