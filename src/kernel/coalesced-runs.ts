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
