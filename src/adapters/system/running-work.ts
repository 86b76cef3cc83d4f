/** A piece of work in this process, named for the log line that says why the event loop was blocked. */
export interface Work {
  describe(): string;
}

/** Most pieces of work that are named. */
const shown = 20;

/**
 * The work that this process has begun: what is still running, and what began last. Cheap, because every request is
 * registered.
 */
export class RunningWork {
  readonly #inProgress = new Set<Work>();
  #begun: Work[] = [];

  begin(work: Work): void {
    this.#inProgress.add(work);
    this.note(work);
  }

  end(work: Work): void {
    this.#inProgress.delete(work);
  }

  /** For work that usually ends before it can be reported. */
  note(work: Work): void {
    this.#begun.push(work);
    if (this.#begun.length > 2 * shown) this.#begun = this.#begun.slice(-shown);
  }

  async during<T>(work: Work, run: () => Promise<T>): Promise<T> {
    this.begin(work);
    try {
      return await run();
    } finally {
      this.end(work);
    }
  }

  /** From now on only what begins later began last. */
  forgetBegun(): void {
    if (this.#begun.length > 0) this.#begun = [];
  }

  /** The latest first. */
  told(): { readonly begun: readonly string[]; readonly inProgress: readonly string[] } {
    const latest = (all: Iterable<Work>) =>
      [...all]
        .slice(-shown)
        .toReversed()
        .map((work) => work.describe());
    return { begun: counted(latest(this.#begun)), inProgress: counted(latest(this.#inProgress)) };
  }
}

/** Lists repeated names once. */
const counted = (texts: readonly string[]): readonly string[] =>
  [...Map.groupBy(texts, (text) => text)].map(([text, { length }]) =>
    length === 1 ? text : `${text} (${String(length)} times)`,
  );

/** A piece of work that has a name. */
export const named = (kind: string, name: string): Work => ({
  describe: () => `${kind} ${name}`,
});
