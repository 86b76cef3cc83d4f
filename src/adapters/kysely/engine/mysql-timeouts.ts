/** Something that may not last longer. */
export interface Timed {
  /** As `performance.now()`. */
  readonly endsAt: number;
  readonly giveUp: () => void;
}

/**
 * Ends what lasts too long, to the millisecond. All share one timer, which is only set anew for something that ends
 * before it: nearly everything ends after what began earlier, so that it fires once in the time of a deadline.
 */
export class MysqlTimeouts {
  readonly #running = new Set<Timed>();
  #timer: NodeJS.Timeout | undefined;
  #firesAt = Infinity;

  add(timed: Timed): void {
    this.#running.add(timed);
    if (timed.endsAt < this.#firesAt) this.#fireAt(timed.endsAt);
  }

  delete(timed: Timed): void {
    this.#running.delete(timed);
  }

  #fireAt(endsAt: number): void {
    clearTimeout(this.#timer);
    this.#firesAt = endsAt;
    const ms = Math.max(1, Math.ceil(endsAt - performance.now()));
    this.#timer = setTimeout(() => {
      this.#fire();
    }, ms);
    // What it ends keeps the process alive by itself, if at all.
    this.#timer.unref();
  }

  #fire(): void {
    this.#firesAt = Infinity;
    const now = performance.now();
    for (const timed of this.#running) {
      if (timed.endsAt > now) continue;
      this.#running.delete(timed);
      timed.giveUp();
    }
    const next = Math.min(...[...this.#running].map(({ endsAt }) => endsAt));
    if (next < this.#firesAt) this.#fireAt(next);
  }
}
