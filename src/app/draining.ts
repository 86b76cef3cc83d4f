import { setTimeout as delay } from 'node:timers/promises';

/**
 * Reports through /readyz that this process is about to stop, so that load balancers leave before it stops listening.
 */
export class Draining {
  #hasBegun = false;

  /** Returns after `seconds`, the time for load balancers to leave. Meanwhile all requests are served. */
  async begin(seconds: number): Promise<void> {
    this.#hasBegun = true;
    if (seconds > 0) await delay(seconds * 1000);
  }

  get hasBegun(): boolean {
    return this.#hasBegun;
  }
}
