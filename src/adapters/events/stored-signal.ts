/** Hears whose things changed. */
export type StoredListener = (accountIds: readonly string[]) => void;

/** Tells who listens in this process that something was stored to be delivered, here or by a process that said so. */
export class StoredSignal {
  readonly #listeners = new Set<StoredListener>();

  /** @returns what ends it */
  listen(listener: StoredListener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  raise(accountIds: readonly string[]): void {
    for (const listener of this.#listeners) listener(accountIds);
  }
}
