/**
 * Remembers what was read, for less than a second: what another process changes is seen within that second,
 * what this process changes at once (`forget`). Time is monotonic, so a clock that jumps changes nothing.
 */
export class ShortMemory<Value> {
  readonly #kept = new Map<string, { readonly value: Value; readonly readAt: number }>();
  readonly #lifeMs: number;
  readonly #most: number;
  #generation = 0;

  constructor(lifeMs = 900, most = 10_000) {
    this.#lifeMs = lifeMs;
    this.#most = most;
  }

  /** The remembered value, or what `read` gives. "Nothing" is not remembered: guesses would fill the memory. */
  async get(
    key: string,
    read: () => Promise<Value | undefined>,
    now: number = performance.now(),
  ): Promise<Value | undefined> {
    const kept = this.#kept.get(key);
    if (kept && now - kept.readAt < this.#lifeMs) return kept.value;
    const generation = this.#generation;
    const value = await read();
    // A read that was under way while something changed may be stale.
    if (value !== undefined && generation === this.#generation) {
      if (this.#kept.size >= this.#most) this.#kept.clear();
      this.#kept.set(key, { value, readAt: now });
    }
    return value;
  }

  forget(): void {
    this.#generation += 1;
    this.#kept.clear();
  }
}
