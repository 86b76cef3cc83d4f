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

/**
 * Work that never runs twice at once and misses no news: a call during a turn leads to another turn. Callers share the
 * outcome of the last turn.
 */
export class CoalescedRuns<Outcome = void> {
  readonly #turn: () => Promise<Outcome>;
  #running: Promise<Outcome | undefined> | undefined;
  #isAsked = false;
  #isStopped = false;

  /** @param turn finds by itself what there is to do */
  constructor(turn: () => Promise<Outcome>) {
    this.#turn = turn;
  }

  get isStopped(): boolean {
    return this.#isStopped;
  }

  /** @returns undefined if it is stopped before its first turn. @throws what a turn throws, which ends the run */
  run(): Promise<Outcome | undefined> {
    this.#isAsked = true;
    this.#running ??= this.#takeTurns();
    return this.#running;
  }

  /** Called during a turn that knows of more to do. */
  again(): void {
    this.#isAsked = true;
  }

  /** Begins no more turns and waits for the current one, even if it fails. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#running?.catch(() => undefined);
  }

  async #takeTurns(): Promise<Outcome | undefined> {
    let last: Outcome | undefined;
    try {
      while (this.#isAsked && !this.#isStopped) {
        this.#isAsked = false;
        last = await this.#turn();
      }
      return last;
    } finally {
      // At once after the last look, so that a later call begins a run of its own.
      this.#running = undefined;
    }
  }
}
