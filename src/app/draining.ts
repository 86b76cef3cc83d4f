import { setTimeout as delay } from 'node:timers/promises';

/** Tells balancers, through /readyz, that this process is about to go, before it stops listening. */
export class Draining {
  #hasBegun = false;

  /** Returns when balancers had `seconds` to look elsewhere. Meanwhile all requests are served. */
  async begin(seconds: number): Promise<void> {
    this.#hasBegun = true;
    if (seconds > 0) await delay(seconds * 1000);
  }

  get hasBegun(): boolean {
    return this.#hasBegun;
  }
}
