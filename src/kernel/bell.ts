/** `soon`: within a second, together with other news. */
export type Ringing = 'now' | 'soon';

/** Tells one listener that there is news. Without a listener nothing happens: it looks by itself once it begins. */
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
