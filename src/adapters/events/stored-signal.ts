/** Tells who listens in this process that something was stored to be delivered. */
export class StoredSignal {
  readonly #listeners = new Set<() => void>();

  listen(listener: () => void): void {
    this.#listeners.add(listener);
  }

  raise(): void {
    for (const listener of this.#listeners) listener();
  }
}
