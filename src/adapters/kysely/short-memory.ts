/**
 * Caches reads for less than a second: changes of other processes are seen within that second, changes of this process
 * at once (`forget`). Time is monotonic, so clock jumps do not matter.
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

  /** The cached value, or the result of `read`. Misses are not cached, because guessed keys would fill the memory. */
  async get(
    key: string,
    read: () => Promise<Value | undefined>,
    now: number = performance.now(),
  ): Promise<Value | undefined> {
    const kept = this.#kept.get(key);
    if (kept && now - kept.readAt < this.#lifeMs) return kept.value;
    const generation = this.#generation;
    const value = await read();
    // A read that overlapped a change may be stale.
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
