const soonMs = 1000;

/** Tells one listener that there is news. Without a listener nothing happens: it looks by itself once it begins. */
export class Bell {
  #listener: (() => void) | undefined;
  #soon: NodeJS.Timeout | undefined;

  /** @param listener is called at each ring */
  listen(listener: () => void): void {
    this.#listener = listener;
  }

  ring(): void {
    this.#listener?.();
  }

  /** Rings once within a second, however often it is called until then. */
  ringSoon(): void {
    this.#soon ??= setTimeout(() => {
      this.#soon = undefined;
      this.ring();
    }, soonMs).unref();
  }
}
