/** `soon`: within a second, together with other news. */
export type Ringing = 'now' | 'soon';

/** Tells one listener that there is news. Rings before that are lost: a listener looks for work when it begins. */
export class Bell {
  #listener: ((when: Ringing) => void) | undefined;

  /** @param listener is called at each ring */
  listen(listener: (when: Ringing) => void): void {
    this.#listener = listener;
  }

  ring(when: Ringing = 'now'): void {
    this.#listener?.(when);
  }
}

/** Called with the accounts whose data changed, and whether there may be something to deliver. */
export type StoredListener = (accountIds: readonly string[], hasDeliveries: boolean) => void;

/** Notifies listeners in this process of new events, stored here or announced by another process. */
export class StoredSignal {
  readonly #listeners = new Set<StoredListener>();

  /** @returns a function that stops listening */
  listen(listener: StoredListener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** @param hasDeliveries unknown of what another process stored */
  raise(accountIds: readonly string[], hasDeliveries = true): void {
    for (const listener of this.#listeners) listener(accountIds, hasDeliveries);
  }
}
