/** Called with the accounts whose data changed. */
export type StoredListener = (accountIds: readonly string[]) => void;

/** Notifies listeners in this process of new deliveries, stored here or announced by another process. */
export class StoredSignal {
  readonly #listeners = new Set<StoredListener>();

  /** @returns a function that stops listening */
  listen(listener: StoredListener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  raise(accountIds: readonly string[]): void {
    for (const listener of this.#listeners) listener(accountIds);
  }
}
