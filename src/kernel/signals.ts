import type { Deadline } from './ports.ts';
import type { Tracer } from './tracer.ts';

/** `soon` rings within a second, together with other rings. */
export type Ringing = 'now' | 'soon';

/** Wakes one listener. Earlier rings are lost, so a listener must look for work when it starts. */
export class Bell {
  #listener: ((when: Ringing) => void) | undefined;

  listen(listener: (when: Ringing) => void): void {
    this.#listener = listener;
  }

  ring(when: Ringing = 'now'): void {
    this.#listener?.(when);
  }
}

export type StoredListener = (accountIds: readonly string[], hasDeliveries: boolean) => void;

/** Notifies this process of stored events, including those that another process announced. */
export class StoredSignal {
  readonly #listeners = new Set<StoredListener>();

  listen(listener: StoredListener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  raise(accountIds: readonly string[], hasDeliveries = true): void {
    for (const listener of this.#listeners) listener(accountIds, hasDeliveries);
  }
}

interface Around {
  readonly deadline: Pick<Deadline, 'apart'>;
  readonly tracer: Pick<Tracer, 'apart'> | undefined;
  /** The other processes. */
  readonly fleet: { tell(accountIds: readonly string[]): void } | undefined;
}

/** Notifies this and other processes. The request does not wait for the effects. */
export const announcing =
  (signal: StoredSignal, { deadline, tracer, fleet }: Around): StoredListener =>
  (accountIds, hasDeliveries) => {
    const announce = () =>
      void deadline.apart(() => {
        signal.raise(accountIds, hasDeliveries);
        fleet?.tell(accountIds);
        return Promise.resolve();
      });
    if (tracer) tracer.apart(announce);
    else announce();
  };

/** Runs one turn at a time; a call during a turn starts another. Callers share the last result. */
export class CoalescedRuns<Outcome = void> {
  readonly #turn: () => Promise<Outcome>;
  #running: Promise<Outcome | undefined> | undefined;
  #isAsked = false;
  #isStopped = false;

  constructor(turn: () => Promise<Outcome>) {
    this.#turn = turn;
  }

  get isStopped(): boolean {
    return this.#isStopped;
  }

  /** @returns undefined if it was stopped before its first turn @throws the error of a turn, which ends the run */
  run(): Promise<Outcome | undefined> {
    this.#isAsked = true;
    this.#running ??= this.#takeTurns();
    return this.#running;
  }

  again(): void {
    this.#isAsked = true;
  }

  /** Starts no more turns and waits for the current one, even if it fails. */
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
      // This comes directly after the last check, so that a later call starts a new run.
      this.#running = undefined;
    }
  }
}
