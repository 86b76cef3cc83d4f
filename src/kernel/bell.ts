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
