/** Gives what is under way at a stop this long to end. After that it is broken off and tried again. */
const usualGraceMs = 5000;

/** What a pump has begun and not finished. */
export class WorkUnderWay {
  readonly #all = new Set<Promise<void>>();
  readonly #end = new AbortController();
  readonly #graceMs: number;

  constructor(graceMs = usualGraceMs) {
    this.#graceMs = graceMs;
  }

  get size(): number {
    return this.#all.size;
  }

  /** Aborts when a stop waits no longer. */
  get signal(): AbortSignal {
    return this.#end.signal;
  }

  /** @param work never fails @param onEnd is called when the work no longer counts */
  add(work: Promise<void>, onEnd: () => void): void {
    const one = work.finally(() => {
      this.#all.delete(one);
      onEnd();
    });
    this.#all.add(one);
  }

  /** Returns when all of it has ended. */
  async finish(): Promise<void> {
    const late = setTimeout(() => {
      this.#end.abort();
    }, this.#graceMs);
    await Promise.all(this.#all);
    clearTimeout(late);
  }
}
